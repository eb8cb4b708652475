# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reads INI text."""
from __future__ import annotations

from .section import Section, Settings


class BadLine(ValueError):
    """A line that is neither a section, a setting nor a comment."""

    def __init__(self, number: int, line: str) -> None:
        super().__init__(f"line {number}: {line!r}")
        self.number = number


def parse(text: str) -> Settings:
    """Read INI text: `[section]`, `name = value`, comments with `;` or `#`.

    Names are case-insensitive. The section [default] gives values to all the others.
    """
    raw: dict[str, dict[str, str]] = {}
    current: dict[str, str] | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if not line or line[0] in ";#":
            continue
        if line.startswith("[") and line.endswith("]"):
            current = raw.setdefault(line[1:-1].strip(), {})
            continue
        name, equals, value = line.partition("=")
        if not equals or current is None or not name.strip():
            raise BadLine(number, line)
        current[name.strip().lower()] = value.strip()
    defaults = raw.pop("default", {})
    return Settings({title: Section(title, values, defaults) for title, values in raw.items()})
