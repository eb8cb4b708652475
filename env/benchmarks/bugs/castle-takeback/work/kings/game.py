# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The game."""
from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Set

from .rights import CASTLINGS, Castling, lost_by
from .squares import between, is_adjacent, is_straight

START = {"e1": "K", "a1": "R", "h1": "R", "e8": "k", "a8": "r", "h8": "r"}


class IllegalMove(ValueError):
    """The move is against the rules."""


class _Record(NamedTuple):
    board: Dict[str, str]
    rights: Set[str]
    white: bool


class Game:
    """Kings, rooks, castling. Check is not looked at."""

    def __init__(self, board: Optional[Dict[str, str]] = None) -> None:
        self.board = dict(START if board is None else board)
        self.rights: Set[str] = set("KQkq")
        self.white = True
        self._records: List[_Record] = []

    def move(self, start: str, end: str) -> None:
        """Move a piece; a king that goes two squares castles."""
        piece = self.board.get(start)
        if piece is None or piece.isupper() != self.white:
            raise IllegalMove(f"nothing to move at {start}")
        target = self.board.get(end)
        if target is not None and target.isupper() == self.white:
            raise IllegalMove(f"{end} is taken")
        castling = self._castling(piece, start, end)
        if castling is None and not self._is_plain(piece, start, end):
            raise IllegalMove(f"{piece} does not go from {start} to {end}")
        self._records.append(_Record(dict(self.board), self.rights, self.white))
        self.board[end] = self.board.pop(start)
        if castling is not None:
            self.board[castling.rook_to] = self.board.pop(castling.rook_from)
        self.rights -= lost_by(start) | lost_by(end)
        self.white = not self.white

    def take_back(self) -> None:
        """Take the last move back; afterwards everything SHALL be as before it."""
        if not self._records:
            raise IllegalMove("nothing to take back")
        record = self._records.pop()
        self.board, self.rights, self.white = record

    def _castling(self, piece: str, start: str, end: str) -> Optional[Castling]:
        for right in self.rights:
            way = CASTLINGS[right]
            if piece in "Kk" and right.isupper() == self.white and (way.king_from, way.king_to) == (start, end):
                if any(square in self.board for square in between(way.king_from, way.rook_from)):
                    raise IllegalMove("something stands between king and rook")
                return way
        return None

    def _is_plain(self, piece: str, start: str, end: str) -> bool:
        if piece in "Kk":
            return is_adjacent(start, end)
        return is_straight(start, end) and not any(square in self.board for square in between(start, end))
