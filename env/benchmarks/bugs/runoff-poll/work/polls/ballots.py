# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Ballots and their text form."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List, Tuple


@dataclass(frozen=True)
class Ballot:
    """A ranking, best first, that `count` voters handed in."""

    ranking: Tuple[str, ...]
    count: int = 1


def parse_ballots(text: str) -> List[Ballot]:
    """Read lines like `3: ada > bob > cy`; the count is optional.

    Blank lines are skipped. A name given twice in a line raises ValueError.
    """
    ballots = []
    for line in text.splitlines():
        if not line.strip():
            continue
        head, colon, tail = line.partition(":")
        count, ranks = (int(head), tail) if colon else (1, head)
        names = tuple(n.strip() for n in ranks.split(">") if n.strip())
        if len(set(names)) != len(names):
            raise ValueError("name given twice: " + line.strip())
        ballots.append(Ballot(names, count))
    return ballots


def names_on(ballots: List[Ballot]) -> List[str]:
    """All names on the ballots in order of first appearance."""
    seen: dict = {}
    for ballot in ballots:
        for name in ballot.ranking:
            seen.setdefault(name, None)
    return list(seen)
