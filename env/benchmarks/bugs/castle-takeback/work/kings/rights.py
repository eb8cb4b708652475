# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Castling rights: letters K and Q for white, k and q for black."""
from __future__ import annotations

from typing import Dict, NamedTuple, Set


class Castling(NamedTuple):
    """The way of the king and of the rook."""

    king_from: str
    king_to: str
    rook_from: str
    rook_to: str


CASTLINGS: Dict[str, Castling] = {
    "K": Castling("e1", "g1", "h1", "f1"),
    "Q": Castling("e1", "c1", "a1", "d1"),
    "k": Castling("e8", "g8", "h8", "f8"),
    "q": Castling("e8", "c8", "a8", "d8"),
}


def lost_by(square: str) -> Set[str]:
    """The rights that end when something moves from or to a square."""
    return {right for right, way in CASTLINGS.items() if square in (way.king_from, way.rook_from)}
