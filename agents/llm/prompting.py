"""The prompts: Jinja templates beside this file, or the user's own."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Any

import jinja2

from agents.base import SetupError

FOLDER = Path(__file__).parent / "prompts"


@functools.cache
def built_in(name: str) -> str:
    """The text of a built-in template."""
    return (FOLDER / f"{name}.j2").read_text(encoding="utf-8")


def digest() -> str:
    """Changes when a built-in prompt does."""
    texts = (path.read_bytes() for path in sorted(FOLDER.glob("*.j2")))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:8]


def render(name: str, own: str | None, **values: Any) -> str:
    """Fill a template in. Raises SetupError when the user's own is wrong."""
    try:
        environment = jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        return environment.from_string(built_in(name) if own is None else own).render(**values).strip()
    except jinja2.TemplateError as error:
        raise SetupError(f"the template of the {name} prompt is wrong: {error}") from None
