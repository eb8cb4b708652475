# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Separated values; the first line names the columns."""
from __future__ import annotations

from typing import Dict, List

from records.common import content_lines, make_record

FORMAT = "delimited"


def read(text: str, separator: str = ",") -> List[Dict[str, str]]:
    """Read the rows of a delimited text."""
    rows = [line.split(separator) for line in content_lines(text)]
    if not rows:
        return []
    names = [n.strip() for n in rows[0]]
    return [make_record(names, row, "") for row in rows[1:]]
