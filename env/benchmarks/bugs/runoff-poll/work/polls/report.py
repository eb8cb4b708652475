# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The poll in one call."""
from __future__ import annotations

from typing import List, Optional

from polls.ballots import names_on, parse_ballots
from polls.runoff import run_off


def report(text: str, candidates: Optional[List[str]] = None) -> List[str]:
    """Lines that describe the count of the ballots in `text`.

    One line for each round, then the verdict.
    """
    ballots = parse_ballots(text)
    outcome = run_off(ballots, candidates or names_on(ballots))
    lines = []
    for number, stage in enumerate(outcome.rounds, 1):
        votes = ", ".join("%s %d" % item for item in stage.totals.items())
        note = " (%d exhausted)" % stage.exhausted if stage.exhausted else ""
        lines.append("round %d: %s%s" % (number, votes, note))
    lines.append("winner: " + outcome.winner if outcome.winner else "no winner")
    return lines
