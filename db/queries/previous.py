"""How the runs of a list compare with the runs before them."""

from __future__ import annotations

from collections.abc import Collection
from statistics import fmean

from sqlalchemy import Engine, func, select

from stackrank.db.connection.transactions import COUNTER, RUN
from stackrank.db.queries.reading import fetch
from stackrank.db.totals.counters import sum_columns
from stackrank.terms import EpisodeStatus, RunStatus, Verdict


def against_previous(engine: Engine, ids: Collection[int]) -> dict[int, float]:
    """Return by how much the rates of finished runs are above those of the finished runs before them in their series.

    That is the mean over the entrants that both have, each with the same weight; it is not tested, as that of two runs
    side by side is. A run is left out if none of its series, on its benchmark and under its conditions, was before it.
    """
    before = RUN.alias()
    same = [before.c[name] == RUN.c[name] for name in ("series", "benchmark_id", "conditions_digest")]
    previous = select(func.max(before.c.id)).where(*same, before.c.id < RUN.c.id, before.c.status == RunStatus.FINISHED)
    query = select(RUN.c.id, previous.correlate(RUN).scalar_subquery().label("previous"))
    query = query.where(RUN.c.id.in_(ids), RUN.c.series != "", RUN.c.status == RunStatus.FINISHED)
    pairs = {row["id"]: row["previous"] for row in fetch(engine, query) if row["previous"] is not None}
    rates = _rates(engine, {*pairs, *pairs.values()})
    shared = {run: rates.get(run, {}).keys() & rates.get(earlier, {}).keys() for run, earlier in pairs.items()}
    return {
        run: fmean(rates[run][entrant] - rates[pairs[run]][entrant] for entrant in entrants)
        for run, entrants in shared.items()
        if entrants
    }


def _rates(engine: Engine, ids: Collection[int]) -> dict[int, dict[int, float]]:
    """Return run -> entrant -> the share of resolved episodes among those with a verdict on the entrant."""
    c = COUNTER.c
    group = (c.run_id, c.entrant_id, c.verdict)
    query = select(*group, *sum_columns("episodes")).where(c.run_id.in_(ids), c.counted, c.status == EpisodeStatus.DONE)
    sums: dict[int, dict[int, list[int]]] = {}
    query = query.where(c.verdict != Verdict.ERROR, c.episodes > 0)
    for row in fetch(engine, query.group_by(*group)):
        counts = sums.setdefault(row["run_id"], {}).setdefault(row["entrant_id"], [0, 0])
        counts[row["verdict"] != Verdict.RESOLVED] += row["episodes"]
    return {
        run: {
            entrant: resolved / (resolved + failed)
            for entrant, (resolved, failed) in counts.items()
            if resolved + failed
        }
        for run, counts in sums.items()
    }
