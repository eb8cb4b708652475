# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The instant runoff count."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence

from polls.ballots import Ballot


@dataclass(frozen=True)
class Round:
    """The state of one round: votes of each candidate standing, and the exhausted ballots."""

    totals: Dict[str, int]
    exhausted: int


@dataclass(frozen=True)
class Outcome:
    """The winner, or None, and all rounds counted."""

    winner: Optional[str]
    rounds: List[Round]


def run_off(ballots: Sequence[Ballot], candidates: Sequence[str]) -> Outcome:
    """Count the ballots in rounds.

    In each round a ballot counts for its best candidate still standing; a
    ballot that ranks none of them is exhausted. A candidate with more than
    half of the ballots that count in this round wins. Otherwise the candidate
    with the fewest votes goes (of equals, the one listed last).
    """
    standing = list(candidates)
    rounds: List[Round] = []
    cast = sum(ballot.count for ballot in ballots)
    exhausted = 0
    quota = cast // 2 + 1

    def recount() -> Dict[str, int]:
        nonlocal exhausted
        totals = {name: 0 for name in standing}
        exhausted = 0
        for ballot in ballots:
            choice = next((name for name in ballot.ranking if name in totals), None)
            if choice is None:
                exhausted += ballot.count
            else:
                totals[choice] += ballot.count
        quota = (cast - exhausted) // 2 + 1
        return totals

    while standing:
        totals = recount()
        rounds.append(Round(totals, exhausted))
        leader = max(standing, key=lambda name: totals[name])
        if totals[leader] >= quota:
            return Outcome(leader, rounds)
        fewest = min(totals.values())
        standing.remove([name for name in standing if totals[name] == fewest][-1])
    return Outcome(None, rounds)
