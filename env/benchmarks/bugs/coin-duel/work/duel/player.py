# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The computer player."""
from __future__ import annotations

from typing import List, Optional

from .game import Game
from .move import Move
from .search import Search


def value(game: Game) -> int:
    """The final lead of the player whose turn it is."""
    return int(game.lead + Search().gain(game))


def best_move(game: Game) -> Optional[Move]:
    """A move that leads to the best end; the first of them if there are several."""
    return max(game.moves(), key=lambda move: -value(game.after(move)), default=None)


def play(game: Game) -> List[str]:
    """A whole game of the computer against itself."""
    lines = []
    while not game.over:
        move = best_move(game)
        assert move is not None
        lines.append(str(move))
        game = game.after(move)
    return lines
