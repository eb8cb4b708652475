"""One run against the one before it."""

from __future__ import annotations

from sqlalchemy import Engine, select

from db import stats
from db.models import RunStatus
from db.queries.compare import played, shared_tasks
from db.queries.reading import Row, fetch, fetch_one
from db.queries.runs import run as find_run
from db.queries.scope import cells_of, find_scope
from db.transactions import ENTRANT, RUN


def changes(engine: Engine, run: int | str, before: int | str | None = None, *, seed: int = 0) -> list[Row]:
    """What each entrant does better or worse in a run than in the one `before` it, paired by task.

    Without `before`: the newest earlier run of the same name and benchmark; none gives an empty list. Each row has
    entrant, tasks, rate_before, rate, difference and uplift with their intervals, and p_value after Holm's
    correction.
    """
    this = find_run(engine, run)
    if before is None:
        same = (RUN.c.name == this["name"]) & (RUN.c.benchmark_id == this["benchmark_id"])
        finished = RUN.c.status == RunStatus.FINISHED
        query = select(RUN.c.id).where(same, finished, RUN.c.id < this["id"]).order_by(RUN.c.id.desc())
        earlier = fetch_one(engine, query)
        if earlier is None:
            return []
        before = int(earlier["id"])
    sides = []
    for ref in (before, this["id"]):
        scope = find_scope(engine, run=ref)
        sides.append({} if scope is None else cells_of(engine, scope))
    rows = []
    for entrant in fetch(engine, select(ENTRANT).where(ENTRANT.c.id.in_(sides[0])).order_by(ENTRANT.c.name)):
        old, new = (side.get(entrant["id"], {}) for side in sides)
        shared = shared_tasks(old, new)
        pairs = [[played(tasks[key]) for key in shared] for tasks in (old, new)]
        found = stats.paired_difference(*pairs, seed=seed)
        if found.difference is None:
            continue
        rates = [sum(r / n for r, n in pair) / len(pair) for pair in pairs]
        row = {"entrant_id": entrant["id"], "entrant": entrant["name"], "before": before, "tasks": found.tasks}
        row |= {"rate_before": rates[0], "rate": rates[1], "difference": found.difference}
        row |= {"uplift": found.uplift, "uplift_low": found.uplift_low, "uplift_high": found.uplift_high}
        rows.append(row | {"ci_low": found.low, "ci_high": found.high, "p_value": found.p_value})
    for row, p_value in zip(rows, stats.holm([row["p_value"] for row in rows]), strict=True):
        row["p_value"] = p_value
    return rows
