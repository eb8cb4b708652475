"""Finds and loads plug-ins: what installed packages register under stackrank's entry point groups."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from stackrank.errors import PluginError
from stackrank.extras import missing_extra


def plugin_names(group: str) -> list[str]:
    """Return the names of a group's plug-ins, stackrank's own first. Imports none of them."""
    return list(dict.fromkeys(point.name for point in _find_points(group)))


def load_plugin(group: str, name: str) -> Any | None:
    """Return the object that a plug-in's entry point names; None if there is no such plug-in. Raises PluginError."""
    point = next((point for point in _find_points(group) if point.name == name), None)
    if point is None:
        return None
    try:
        return point.load()
    except Exception as error:  # whatever an import of somebody else's module raises
        raise PluginError(
            f"the plug-in {name!r} of the package {_package(point)} (entry point group {group}) cannot be loaded: "
            f"{type(error).__name__}: {error}; {_remedy(point, error)}"
        ) from error


def _find_points(group: str) -> tuple[EntryPoint, ...]:
    return _read_points(entry_points, group, tuple((folder, _changed_at(folder)) for folder in sys.path))


@lru_cache(maxsize=64)
def _read_points(
    find: Callable[..., Iterable[EntryPoint]], group: str, folders: tuple[tuple[str, int], ...]
) -> tuple[EntryPoint, ...]:
    """Read the entry points of a group from all installed packages: ten milliseconds, so once while nothing changes."""
    return tuple(sorted(find(group=group), key=lambda point: _package(point) != "stackrank"))


def _changed_at(folder: str) -> int:
    """When a folder of sys.path last changed, which installing a package does: nanoseconds; 0 if it is not there."""
    with suppress(OSError):
        return Path(folder).stat().st_mtime_ns
    return 0


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.module.partition(".")[0]


def _remedy(point: EntryPoint, error: Exception) -> str:
    package = _package(point)
    if point.extras:
        return f"run pip install '{package}[{','.join(point.extras)}]'"
    if package == "stackrank" and (extra := missing_extra(error, preferred=point.name)):
        return f"run pip install 'stackrank[{extra}]'"
    if isinstance(error, ModuleNotFoundError) and error.name and not point.module.startswith(error.name):
        return f"install what provides {error.name}, or uninstall {package}"
    return f"reinstall or uninstall {package}"
