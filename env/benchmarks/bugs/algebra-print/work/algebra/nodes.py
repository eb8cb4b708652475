# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The nodes of a formula."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class Op:
    """Two formulas with a sign between: + - * / ^."""

    sign: str
    left: "Node"
    right: "Node"


Node = Union[int, str, Op]
