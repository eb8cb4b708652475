"""How the episodes of each entrant ended: resolved, or at which failure point."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TypedDict

from sqlalchemy import Engine, func, select

from stackrank.db.connection.transactions import EPISODE
from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope, fetch_entrants
from stackrank.db.queries.reading import fetch_tuples
from stackrank.terms import UNKNOWN, Verdict
from stackrank.wording import count_of, words

_E = EPISODE.c


class FailureBreakdown(TypedDict):
    """How the episodes of an entrant ended: `failure_points` is name -> episodes. `shares` are those of `resolved` and
    of each failure point; they add up to 1. Each task weighs the same, however often it was played.
    """

    entrant_id: int
    entrant: str
    resolved: int
    unresolved: int
    errors: int
    failure_points: dict[str, int]
    shares: dict[str, float]


def failure_points(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> list[FailureBreakdown]:
    """Count how often each entrant failed at which failure point.

    An unresolved episode without a failure point counts as `unknown`. Raises `NotFound` for an unknown run.
    """
    selection = scope.find(engine)
    groups = (_E.entrant_id, _E.task_id, _E.verdict, _E.failure_point)
    query = (
        select(*groups, func.count().label("episodes"))
        .where(selection.grouped, _E.counted, _E.verdict != "")
        .group_by(*groups)
    )
    keys, resolved, error = selection.keys, str(Verdict.RESOLVED), str(Verdict.ERROR)
    # Entrant -> resolved, error or a failure point -> episodes; and the same without errors, task by task.
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    ends: dict[int, dict[int, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for entrant_id, task_id, verdict, failure_point, episodes in fetch_tuples(engine, query):
        if task_id in keys:
            end = verdict if verdict in (resolved, error) else failure_point or UNKNOWN
            counts[entrant_id][end] += episodes
            if end != error:
                task_ends = ends[entrant_id][task_id]
                task_ends[end] = task_ends.get(end, 0) + episodes
    points = {
        entrant_id: {end: n for end, n in end_counts.items() if end not in (resolved, error)}
        for entrant_id, end_counts in counts.items()
    }
    board: list[FailureBreakdown] = [
        {
            "entrant_id": entrant_id,
            "entrant": entrant["name"],
            "resolved": counts[entrant_id][resolved],
            "unresolved": sum(points[entrant_id].values()),
            "errors": counts[entrant_id][error],
            "failure_points": points[entrant_id],
            "shares": _shares(ends[entrant_id].values()),
        }
        for entrant_id, entrant in fetch_entrants(engine, counts).items()
    ]
    return sorted(board, key=lambda row: (row["entrant"], row["entrant_id"]))


def failures_sentence(rows: Sequence[FailureBreakdown]) -> str:
    """Say at which failure point most unresolved episodes of all entrants failed; empty if all were resolved."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(row["failure_points"])
    if not counts:
        return ""
    most = max(counts.values())
    names = [words(point) for point, episodes in counts.items() if episodes == most]
    subject = "failure point is" if len(names) == 1 else "failure points are"
    number = f"{most:,}{'' if len(names) == 1 else ' each'} of {count_of(counts.total(), 'unresolved episode')}"
    return f"The most frequent {subject} {' and '.join(names)}: {number}."


def _shares(tasks: Collection[Mapping[str, int]]) -> dict[str, float]:
    """Return for each end the mean over tasks of the share of episodes that ended so: tasks weigh the same."""
    shares: dict[str, float] = defaultdict(float)
    for ends in tasks:
        weight = 1 / sum(ends.values()) / len(tasks)
        for end, episodes in ends.items():
            shares[end] += episodes * weight
    return dict(shares)
