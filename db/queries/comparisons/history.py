"""What earlier runs of a benchmark showed, for planning the next one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import TypedDict

from sqlalchemy import Engine, case, func, select

from stackrank.db.connection.transactions import BENCHMARK, ENTRANT, EPISODE, RUN, TASK
from stackrank.db.queries.boards.scope import Scope, fetch_entrants
from stackrank.db.queries.comparisons.compare import pair_up
from stackrank.db.queries.reading import fetch, fetch_tuples
from stackrank.db.stats.planning import Spread, spread
from stackrank.db.totals.tallies import share_of_faults
from stackrank.terms import UNKNOWN, Verdict

_E = EPISODE.c
_MAX_RUNS = 50


class EpisodeMean(TypedDict):
    """The mean cost and time of an entrant's episodes; `cost_usd` is None if a price is unknown.

    `same_limits`: 1 if the runs had the limits that were asked for.
    """

    id: int
    called: str
    agent: str
    model: str
    wall_s: float
    cost_usd: float | None
    episodes: int
    same_limits: int


def earlier_results(engine: Engine, task_ids: Sequence[int]) -> tuple[list[list[float]], list[list[int]]]:
    """Return the numbers of resolved and of counted earlier episodes (entrants x these tasks), without reference
    entrants. A task that is unchanged in other versions of its benchmark is the same task."""
    own, same = TASK.alias(), TASK.alias()
    is_same = (own.c.name == same.c.name) & (own.c.digest == same.c.digest)
    counts = (func.sum(share_of_faults()), func.count())
    query = (
        select(_E.entrant_id, own.c.id, *counts)
        .join(same, same.c.id == _E.task_id)
        .join(own, is_same)
        .join(ENTRANT, ENTRANT.c.id == _E.entrant_id)
        .where(own.c.id.in_(task_ids), ~ENTRANT.c.reference, _E.counted)
        .where(_E.verdict.in_([Verdict.RESOLVED, Verdict.UNRESOLVED]))
        .group_by(_E.entrant_id, own.c.id)
    )
    cells = {(entrant, task): (float(won), int(played)) for entrant, task, won, played in fetch_tuples(engine, query)}
    entrants = sorted({entrant for entrant, _ in cells}) or [0]
    results = [[cells.get((entrant, task), (0, 0)) for task in task_ids] for entrant in entrants]
    return [[won for won, _ in row] for row in results], [[played for _, played in row] for row in results]


def observed_spread(engine: Engine, benchmark: str, entrant_names: Collection[str]) -> tuple[Spread, list[str]] | None:
    """Return how the gap between two entrants varied over the benchmark's current tasks, and the entrants' names.

    Uses the entrants in `entrant_names` if two of them played enough, else all entrants. None if too few played.
    """
    cells = Scope(benchmark=benchmark).find(engine).cells()
    entrants = [row for row in fetch_entrants(engine, cells).values() if not row["reference"]]
    named_entrants = [row for row in entrants if row["called"] in entrant_names]
    for sample in (named_entrants, entrants):
        pairs = [pair_up(cells[first["id"]], cells[second["id"]]) for first, second in combinations(sample, 2)]
        if estimate := spread([list(zip(*pair, strict=True)) for pair in pairs]):
            return estimate, sorted(row["name"] for row in sample)
    return None


def episode_means(
    engine: Engine, benchmark: str, limits: Mapping[str, float | None] | None = None
) -> list[EpisodeMean]:
    """Return each entrant's mean cost and time per episode in the last runs of this benchmark; newest entrants first.

    `limits` ({condition: value}): runs under these limits have rows of their own, which come first.
    """
    conditions_of_runs = select(RUN.c.id, RUN.c.conditions).join(BENCHMARK).where(BENCHMARK.c.name == benchmark)
    last_runs = fetch_tuples(engine, conditions_of_runs.order_by(RUN.c.id.desc()).limit(_MAX_RUNS))
    same_limit_runs = [
        run_id
        for run_id, conditions in last_runs
        if all(conditions.get(name, UNKNOWN) == value for name, value in (limits or {}).items())
    ]
    has_same_limits = case((_E.run_id.in_(same_limit_runs), 1), else_=0)
    columns = (ENTRANT.c.id, ENTRANT.c.called, ENTRANT.c.agent, ENTRANT.c.model)
    means = (
        func.avg(_E.wall_s).label("wall_s"),
        # One unknown price makes the mean unknown, not small.
        case((func.count(_E.cost_usd) == func.count(), func.avg(_E.cost_usd))).label("cost_usd"),
        func.count().label("episodes"),
        has_same_limits.label("same_limits"),
    )
    played = (_E.counted, _E.verdict.in_([Verdict.RESOLVED, Verdict.UNRESOLVED]))
    query = select(*columns, *means).join(EPISODE, _E.entrant_id == ENTRANT.c.id)
    query = query.where(_E.run_id.in_([run_id for run_id, _ in last_runs]), *played).group_by(*columns, has_same_limits)
    return fetch(engine, query.order_by(has_same_limits.desc(), ENTRANT.c.id.desc()), EpisodeMean)
