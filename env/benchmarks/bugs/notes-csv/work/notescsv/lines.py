# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Splitting text into lines."""
from __future__ import annotations

from typing import Iterator


def physical_lines(text: str) -> Iterator[str]:
    """The lines of the text with their endings: CR LF, LF or CR, as they come. The last may have none."""
    yield from text.splitlines(keepends=True)


def without_ending(line: str) -> str:
    """The line without the line ending."""
    return line.rstrip("\r\n")
