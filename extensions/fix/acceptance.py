"""The share of proposed fixes that people approved."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from statistics import median

from sqlalchemy import Engine

from stackrank.db import stats
from stackrank.db.queries import proposals
from stackrank.db.queries.reading import Row
from stackrank.terms import DecisionKind


def acceptance(engine: Engine) -> list[Row]:
    """Return the share of each entrant's decided proposals that people approved, with its 95% interval, best first.

    Each problem weighs the same, however many proposals there were for it. `hours_to_decide` is a median.
    """
    by_entrant: dict[str, list[Row]] = {}
    for row in proposals(engine):
        by_entrant.setdefault(row["entrant"], []).append(row)
    entrants = []
    for entrant, rows in by_entrant.items():
        decided = [row for row in rows if row["decision"]]
        problems = Counter((row["repository"], row["problem"]) for row in decided)
        approved = Counter(
            (row["repository"], row["problem"]) for row in decided if row["status"] == DecisionKind.APPROVED
        )
        rate = stats.rate([approved[problem] for problem in problems], list(problems.values()))
        hours = [_hours(row) for row in decided]
        entrants.append(
            {
                "entrant": entrant,
                "proposals": len(rows),
                "approved": sum(approved.values()),
                "rejected": len(decided) - sum(approved.values()),
                "rate": rate.rate,
                "ci_low": rate.low,
                "ci_high": rate.high,
                "hours_to_decide": median(hours) if hours else None,
                "reasons": [row["decision"]["reason"] for row in decided if row["status"] == DecisionKind.REJECTED],
            }
        )
    return sorted(entrants, key=lambda row: (row["rate"] is None, -(row["rate"] or 0), row["entrant"]))


def _hours(row: Row) -> float:
    created, decided = (datetime.fromisoformat(event["created_at"]) for event in (row, row["decision"]))
    return (decided - created).total_seconds() / 3600
