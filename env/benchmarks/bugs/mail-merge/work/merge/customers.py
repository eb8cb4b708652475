# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The customer list."""
from __future__ import annotations

from typing import Dict, List


def read_customers(text: str) -> List[Dict[str, str]]:
    """Read a table: the first line names the columns, separated by `;`.

    Cells are stripped; missing cells at the end are empty.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return []
    names = [name.strip() for name in lines[0].split(";")]
    rows = []
    for line in lines[1:]:
        cells = [cell.strip() for cell in line.split(";")]
        cells += [""] * (len(names) - len(cells))
        rows.append(dict(zip(names, cells)))
    return rows
