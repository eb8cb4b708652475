"""How the runs of a list compare with the runs before them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from sqlalchemy import Engine, func, select

from stackrank.db import stats
from stackrank.db.connection.transactions import RUN
from stackrank.db.queries.boards.cells import read_results
from stackrank.db.queries.boards.scope import fetch_entrants
from stackrank.db.queries.comparisons.changes import correct_changes
from stackrank.db.queries.comparisons.claims import direction
from stackrank.db.queries.reading import fetch
from stackrank.db.stats.pairs import TaskCount
from stackrank.terms import RunStatus

_Results = Mapping[int, Mapping[int, TaskCount]]
"""Entrant -> task -> its resolved and its scored episodes."""


class Change(NamedTuple):
    """By how much the rate of a run is above that of a run before it, and for which entrants that is clear."""

    previous: int
    difference: float
    worse: tuple[str, ...]
    """The entrants that are worse, by the test of `run_pair`."""
    better: tuple[str, ...]


def against_previous(engine: Engine, ids: Collection[int]) -> dict[int, Change]:
    """Return how finished runs compare with the finished runs before them in their series.

    The difference is over the episodes of the entrants that both have, so it is the difference of the two rates that a
    list shows if both have the same entrants. A run is left out if none of its series, on its benchmark and under its
    conditions, was before it.
    """
    before = RUN.alias()
    same = [before.c[name] == RUN.c[name] for name in ("series", "benchmark_id", "conditions_digest")]
    previous = select(func.max(before.c.id)).where(*same, before.c.id < RUN.c.id, before.c.status == RunStatus.FINISHED)
    query = select(RUN.c.id, previous.correlate(RUN).scalar_subquery().label("previous"))
    query = query.where(RUN.c.id.in_(ids), RUN.c.series != "", RUN.c.status == RunStatus.FINISHED)
    pairs = {row["id"]: row["previous"] for row in fetch(engine, query) if row["previous"] is not None}
    results = read_results(engine, {*pairs, *pairs.values()})
    names = fetch_entrants(engine, {entrant for of_run in results.values() for entrant in of_run})
    changes = {}
    for run, earlier in pairs.items():
        if shared := sorted(results[run].keys() & results[earlier].keys()):
            difference = _pooled(results[run], shared) - _pooled(results[earlier], shared)
            signs = _clear_signs(results[earlier], results[run], shared)
            sides = ([names[entrant]["called"] for entrant in shared if signs.get(entrant) == sign] for sign in (-1, 1))
            changes[run] = Change(earlier, difference, *map(tuple, sides))
    return changes


def _pooled(results: _Results, entrants: Collection[int]) -> float:
    """Return the share of resolved episodes among those of these entrants."""
    counts = [count for entrant in entrants for count in results[entrant].values()]
    return sum(resolved for resolved, _ in counts) / sum(scored for _, scored in counts)


def _clear_signs(earlier: _Results, later: _Results, entrants: Collection[int]) -> dict[int, int]:
    """Return the sign of each entrant's change, task by task, or 0 if that may be chance; Holm corrects for all."""
    changes = {}
    for entrant in entrants:
        tasks = sorted(earlier[entrant].keys() & later[entrant].keys())
        old, new = ([side[entrant][task] for task in tasks] for side in (earlier, later))
        if change := stats.compare_with_baseline([stats.RunScores(old)], new):
            changes[entrant] = change
    corrected = correct_changes(list(changes.values()))
    return {
        entrant: direction(row["difference"], row["p_value"]) for entrant, row in zip(changes, corrected, strict=True)
    }
