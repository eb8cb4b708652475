# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Kings and rooks: a trainer for castling."""
from __future__ import annotations

from .game import Game, IllegalMove

__all__ = ["Game", "IllegalMove"]
