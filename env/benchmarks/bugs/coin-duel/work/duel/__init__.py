# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A game for two: take coins from either end of a row; who has more value in the end wins."""
from __future__ import annotations

from .game import Game
from .player import best_move, value

__all__ = ["Game", "best_move", "value"]
