# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The kinds of gates."""
from __future__ import annotations

from typing import Callable, Dict, NamedTuple


class Kind(NamedTuple):
    inputs: int
    output: Callable[..., bool]


KINDS: Dict[str, Kind] = {
    "NOT": Kind(1, lambda a: not a),
    "AND": Kind(2, lambda a, b: a and b),
    "OR": Kind(2, lambda a, b: a or b),
    "XOR": Kind(2, lambda a, b: a != b),
    "NAND": Kind(2, lambda a, b: not (a and b)),
    "NOR": Kind(2, lambda a, b: not (a or b)),
}
