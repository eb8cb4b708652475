"""Which files, variables and hosts on this machine other people's specifications may name.

If `STACKRANK_GUARDED` is on, as it is in a worker of a shared Prefect server, a specification may name only what the
operator of this machine allows. What users run by hand on their own machine is not restricted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from stackrank.settings import settings, variable

_VARIABLE = re.compile(r"\$\{?(\w+)")
_KEYS = frozenset({"OPENAI_API_KEY", "AZURE_OPENAI_API_KEY"})
_ADDRESSES = ("OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT")


def require_file(place: str, file: str) -> None:
    """Raise ValueError if specifications may not name this file or folder."""
    if not settings().guarded:
        return
    path = Path(file).expanduser().resolve()
    folders = [Path(folder).expanduser().resolve() for folder in settings().allowed_paths.split(os.pathsep) if folder]
    if not any(path.is_relative_to(folder) for folder in folders):
        raise ValueError(_refusal(place, file, "allowed_paths"))


def require_variable(place: str, name: str) -> None:
    """Raise ValueError if specifications may not name this environment variable."""
    if settings().guarded and name not in _KEYS | set(_words(settings().allowed_variables)):
        raise ValueError(_refusal(place, name, "allowed_variables"))


def require_host(place: str, url: str) -> None:
    """Raise ValueError if specifications may not name this address."""
    if not settings().guarded:
        return
    operator_urls = [os.environ.get(name, "") for name in _ADDRESSES] + [settings().webhook]
    hosts = {
        "api.openai.com",
        *(_host(operator_url) for operator_url in operator_urls if operator_url),
        *_words(settings().allowed_hosts),
    }
    host = _host(url)
    if not host or not {host, host.rpartition(":")[0]} & hosts:
        raise ValueError(_refusal(place, host or "an address without a host", "allowed_hosts"))


def require_webhook(place: str, url: str) -> None:
    """Raise ValueError if specifications may not have this address called. `$NAME` alone is the operator's own."""
    for name in _VARIABLE.findall(url):
        require_variable(place, name)
    if url and not re.fullmatch(_VARIABLE.pattern + r"\}?", url):
        require_host(place, os.path.expandvars(url))


def require_config(config: Mapping[str, Any]) -> None:
    """Raise ValueError if an agent's settings name something that is not allowed."""
    for place, value in _texts(config, ""):
        name = place.rpartition(".")[2]
        if name.endswith(("_file", "_path")):
            require_file(place, value)
        elif name.endswith("_env"):
            require_variable(place, value)
        elif name.endswith(("_url", "_endpoint")):
            require_host(place, value)
        elif value.startswith("$"):
            for variable_name in _VARIABLE.findall(value):
                require_variable(place, variable_name)


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for name, nested in value.items():
            yield from _texts(nested, f"{place}.{name}".lstrip("."))
    elif isinstance(value, list | tuple):
        for nested in value:
            yield from _texts(nested, place)


def _host(url: str) -> str:
    """Return `name` or `name:port` of an address, in lower case; empty if the address has no host."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.hostname}{port}" if parts.hostname else ""
    except ValueError:
        return ""


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,]+", text) if word]


def _refusal(place: str, resource: str, setting: str) -> str:
    return (
        f"{place} names {resource}, which is not allowed in specifications from others on this machine: its operator "
        f"can allow it with {variable(setting)}"
    )
