"""How the runs of a list compare with the runs before them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Engine, func, select

from stackrank.db.connection.transactions import COUNTER, RUN
from stackrank.db.queries.reading import fetch
from stackrank.db.totals.counters import sum_columns
from stackrank.terms import EpisodeStatus, RunStatus, Verdict


class Change(NamedTuple):
    """By how much the rate of a run is above that of a run before it."""

    previous: int
    difference: float


def against_previous(engine: Engine, ids: Collection[int]) -> dict[int, Change]:
    """Return by how much the rates of finished runs are above those of the finished runs before them in their series.

    That is over the episodes of the entrants that both have, so it is the difference of the two rates that a list
    shows if both have the same entrants. It is not tested, as that of two runs side by side is. A run is left out if
    none of its series, on its benchmark and under its conditions, was before it.
    """
    before = RUN.alias()
    same = [before.c[name] == RUN.c[name] for name in ("series", "benchmark_id", "conditions_digest")]
    previous = select(func.max(before.c.id)).where(*same, before.c.id < RUN.c.id, before.c.status == RunStatus.FINISHED)
    query = select(RUN.c.id, previous.correlate(RUN).scalar_subquery().label("previous"))
    query = query.where(RUN.c.id.in_(ids), RUN.c.series != "", RUN.c.status == RunStatus.FINISHED)
    pairs = {row["id"]: row["previous"] for row in fetch(engine, query) if row["previous"] is not None}
    counts = _counts(engine, {*pairs, *pairs.values()})
    shared = {run: counts.get(run, {}).keys() & counts.get(earlier, {}).keys() for run, earlier in pairs.items()}
    return {
        run: Change(pairs[run], _pooled(counts[run], entrants) - _pooled(counts[pairs[run]], entrants))
        for run, entrants in shared.items()
        if entrants
    }


def _pooled(counts: Mapping[int, Sequence[int]], entrants: Collection[int]) -> float:
    """Return the share of resolved episodes among those of these entrants."""
    resolved = sum(counts[entrant][0] for entrant in entrants)
    return resolved / sum(sum(counts[entrant]) for entrant in entrants)


def _counts(engine: Engine, ids: Collection[int]) -> dict[int, dict[int, list[int]]]:
    """Return run -> entrant -> its resolved and its unresolved episodes, if it has any."""
    c = COUNTER.c
    group = (c.run_id, c.entrant_id, c.verdict)
    query = select(*group, *sum_columns("episodes")).where(c.run_id.in_(ids), c.counted, c.status == EpisodeStatus.DONE)
    sums: dict[int, dict[int, list[int]]] = {}
    query = query.where(c.verdict != Verdict.ERROR, c.episodes > 0)
    for row in fetch(engine, query.group_by(*group)):
        counts = sums.setdefault(row["run_id"], {}).setdefault(row["entrant_id"], [0, 0])
        counts[row["verdict"] != Verdict.RESOLVED] += row["episodes"]
    return sums
