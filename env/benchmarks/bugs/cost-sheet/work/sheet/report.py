# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What the sheet says of the site."""
from __future__ import annotations

from typing import Dict, NamedTuple

from .sheet import Sheet

FIRST, LAST, TOTAL = 3, 18, 26


class Room(NamedTuple):
    """`surcharge`: the kilowatt hours for which there is one."""

    used: float
    surcharge: float
    cost: float


def rooms(sheet: Sheet) -> Dict[str, Room]:
    found = {}
    for row in range(FIRST, LAST + 1):
        used, surcharge, cost = (float(sheet.value(f"{column}{row}")) for column in "NPR")
        found[str(sheet.value(f"A{row}"))] = Room(used, surcharge, cost)
    return found


def total(sheet: Sheet) -> float:
    return round(float(sheet.value(f"R{TOTAL}")), 2)
