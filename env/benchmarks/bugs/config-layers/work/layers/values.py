# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Values in configuration files."""
from __future__ import annotations

from typing import Any, Union

Scalar = Union[str, int, bool]


class Marker:
    """A value with a meaning of its own."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return "<" + self.name + ">"


UNSET = Marker("unset")


def parse_value(text: str) -> Any:
    """Read `true`, `false`, a whole number, `!unset`, or else a text (quotes optional)."""
    text = text.strip()
    if text == "!unset":
        return UNSET
    if text in ("true", "false"):
        return text == "true"
    if text.lstrip("-").isdigit():
        return int(text)
    return text.strip('"')


def write_value(value: Scalar) -> str:
    """The inverse of parse_value for texts, numbers and truth values."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return '"' + value + '"'
    raise TypeError("cannot write %r" % (value,))
