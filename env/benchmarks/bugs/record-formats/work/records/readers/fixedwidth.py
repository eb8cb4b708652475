# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Columns of fixed width, given as (name, width) pairs."""
from __future__ import annotations

from typing import Dict, List, Sequence, Tuple

from records.common import content_lines, make_record

FORMAT = "fixedwidth"


def _cut(line: str, widths: Sequence[int]) -> List[str]:
    """Cut a line into pieces; pieces wholly beyond its end are left out."""
    pieces = []
    start = 0
    for width in widths:
        if start >= len(line):
            break
        pieces.append(line[start:start + width])
        start += width
    return pieces


def read(text: str, columns: Sequence[Tuple[str, int]], fill: str = "-", strip: bool = True) -> List[Dict[str, str]]:
    """Read fixed-width lines.

    Columns beyond the end of a short line hold `fill`. With `strip` false the
    padding of the values is kept. Lines that start with ";" are comments.
    """
    names = [name for name, _ in columns]
    widths = [width for _, width in columns]
    return [
        make_record(names, _cut(line, widths), strip=strip, fill)
        for line in content_lines(text, comment=";")
    ]
