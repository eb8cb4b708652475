# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Wash programmes: phases and their minutes."""
from __future__ import annotations

from typing import Dict, List, NamedTuple


class Phase(NamedTuple):
    name: str
    minutes: int


PROGRAMMES: Dict[str, List[Phase]] = {
    "cotton": [Phase("filling", 3), Phase("washing", 40), Phase("rinsing", 12), Phase("spinning", 8)],
    "wool": [Phase("filling", 3), Phase("washing", 20), Phase("rinsing", 10)],
    "spin": [Phase("spinning", 8)],
}
