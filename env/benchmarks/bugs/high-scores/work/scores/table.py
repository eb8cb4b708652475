# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The table of high scores."""
from __future__ import annotations

from typing import Dict, List, Optional, Tuple

from scores.player import Player

Row = Tuple[int, str, int]


class ScoreTable:
    """Players by name. The ranking is worked out when it is first asked for and kept until something changes."""

    def __init__(self) -> None:
        self._players: Dict[str, Player] = {}
        self._ranking: Optional[List[Row]] = None

    def play(self, name: str, score: int) -> None:
        """Note a score; ValueError if it is negative."""
        if score < 0:
            raise ValueError("scores are not negative")
        self._players.setdefault(name, Player(name)).scores.append(score)
        self._ranking = None

    def remove(self, name: str) -> None:
        """Forget a player; KeyError if there is no such player."""
        del self._players[name]

    def rename(self, old: str, new: str) -> None:
        """Change a name; scores are put together if the new name is in the table."""
        player = self._players.pop(old)
        self._players.setdefault(new, Player(new)).scores.extend(player.scores)

    def ranking(self) -> List[Row]:
        """Place, name and best score, highest first; equal scores share a place, names in alphabetical order."""
        if self._ranking is None:
            self._ranking = self._rank()
        return list(self._ranking)

    def _rank(self) -> List[Row]:
        rows: List[Row] = []
        for player in sorted(self._players.values(), key=lambda p: (-p.best(), p.name)):
            place = rows[-1][0] if rows and rows[-1][2] == player.best() else len(rows) + 1
            rows.append((place, player.name, player.best()))
        return rows

    def place(self, name: str) -> Optional[int]:
        """The place of a player, None if not in the table."""
        return next((place for place, other, _ in self.ranking() if other == name), None)


def show(table: ScoreTable, rows: int = 10) -> List[str]:
    """The top rows as text."""
    return ["%2d. %-10s %6d" % row for row in table.ranking()[:rows]]
