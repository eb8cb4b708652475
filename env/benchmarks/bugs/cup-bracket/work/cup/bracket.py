# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The draw and its progress."""
from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Set, Tuple

from cup.seeding import bracket_size, seed_order

VOID = ""


class Bracket:
    """A knock-out draw for players in seed order.

    Matches are numbered from the final, 1; the winners of matches 2n and
    2n + 1 meet in match n. An entrant of a match is None as long as it is
    not known, and VOID if there will be none. Players without an opponent,
    because there is none or it has withdrawn, win without playing.
    """

    def __init__(self, players: Sequence[str]) -> None:
        if len(set(players)) != len(players) or len(players) < 2 or VOID in players:
            raise ValueError("need two or more different players")
        size = bracket_size(len(players))
        self._entrants: Dict[int, List[Optional[str]]] = {n: [None, None] for n in range(1, size)}
        self._winners: Dict[int, str] = {}
        self._withdrawn: Set[str] = set()
        for place, seed in enumerate(seed_order(size)):
            entrant = players[seed - 1] if seed <= len(players) else VOID
            self._enter((size + place) // 2, place % 2, entrant)

    def open_matches(self) -> List[Tuple[str, str]]:
        """Pairs that can play now, earlier rounds first, each round from the top."""
        ready = [n for n in self._entrants if n not in self._winners and self._known(n)]
        ready.sort(key=lambda n: (-n.bit_length(), n))
        return [(self._entrants[n][0] or VOID, self._entrants[n][1] or VOID) for n in ready]

    def report(self, winner: str, loser: str) -> None:
        """Enter the outcome of an open match; ValueError if there is no such match."""
        for number, entrants in self._entrants.items():
            if number not in self._winners and sorted([winner, loser]) == sorted(e or VOID for e in entrants):
                self._decide(number, winner)
                return
        raise ValueError("%s and %s are not to play" % (winner, loser))

    def withdraw(self, player: str) -> None:
        """Take a player out of all matches not decided yet."""
        self._withdrawn.add(player)
        for number, entrants in self._entrants.items():
            if player in entrants and number not in self._winners:
                self._settle(number)
                return

    @property
    def champion(self) -> Optional[str]:
        """The winner of the final, None if not decided, VOID if nobody is left."""
        return self._winners.get(1)

    def path(self, player: str) -> List[str]:
        """The known opponents of a player, first round first (byes left out)."""
        numbers = [n for n, entrants in self._entrants.items() if player in entrants]
        numbers.sort(reverse=True)
        others = [e for n in numbers for e in self._entrants[n] if e != player]
        return [e for e in others if e]

    def _known(self, number: int) -> bool:
        return None not in self._entrants[number]

    def _enter(self, number: int, side: int, entrant: str) -> None:
        self._entrants[number][side] = entrant
        self._settle(number)

    def _settle(self, number: int) -> None:
        if not self._known(number):
            return
        left = [e for e in self._entrants[number] if e and e not in self._withdrawn]
        if len(left) < 2:
            self._decide(number, left[0] if left else VOID)

    def _decide(self, number: int, winner: str) -> None:
        self._winners[number] = winner
        if number > 1:
            self._entrants[number // 2][number % 2] = winner
            if winner == VOID:
                self._settle(number // 2)
