# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Turns, captures and the end of the game."""
from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

from kalah.board import STORES, Board, opposite, own_pits


class IllegalMove(ValueError):
    """The pit cannot be played."""


class Game:
    """A game in progress; `turn` is the player to move."""

    def __init__(self, seeds: Optional[Sequence[int]] = None, turn: int = 0) -> None:
        self.board = Board(seeds)
        self.turn = turn
        self.over = False

    def moves(self) -> List[int]:
        """Numbers, 1 to 6 from the player's left, of the pits that can be played."""
        if self.over:
            return []
        return [n for n, position in enumerate(own_pits(self.turn), 1) if self.board.seeds[position]]

    def play(self, number: int) -> None:
        """Play a pit of the player to move.

        A last seed in the own store gives another turn. A last seed in an own
        pit that was empty captures: it goes to the own store together with
        the seeds of the opposite pit, if there are any there; if there are
        none it stays. When a player's pits are all empty after a move the
        other player takes the own remaining seeds, and the game is over.
        """
        if number not in self.moves():
            raise IllegalMove("cannot play pit %d" % number)
        player = self.turn
        last = self.board.sow(player, own_pits(player)[number - 1])
        if last in own_pits(player) and self.board.seeds[last] == 1 and self.board.seeds[opposite(last)]:
            self.board.move_to_store(player, [last, opposite(last)])
        if last != STORES[player]:
            self.turn = 1 - player
        self._finish()

    def _finish(self) -> None:
        if self.board.side(0) and self.board.side(1):
            return
        for player in (0, 1):
            self.board.move_to_store(player, own_pits(player))
        self.over = True

    @property
    def score(self) -> Tuple[int, int]:
        """Seeds in the stores."""
        return self.board.seeds[STORES[0]], self.board.seeds[STORES[1]]

    @property
    def winner(self) -> Optional[int]:
        """The player with more seeds once the game is over; None for a tie or before."""
        if not self.over or self.score[0] == self.score[1]:
            return None
        return 0 if self.score[0] > self.score[1] else 1


def replay(moves: Sequence[int]) -> Game:
    """A game from the start with the moves played in turn."""
    game = Game()
    for number in moves:
        game.play(number)
    return game
