"""Finds or builds, in whatever process an episode lands, what the run's episodes share."""

from __future__ import annotations

import threading
from typing import Any

from db import queries
from db.engine import connect
from db.store import Store
from env.benchmarks.base import digest
from flows import log
from flows.episode import Stage
from flows.plan import make_plan, save_benchmark, save_entrant
from flows.spec import SpecError, make_spec

_stages: dict[int, Stage] = {}
_building = threading.Lock()


def stage_of(run_id: int) -> Stage:
    """The stage of a run in this process. Raises SpecError, SandboxError, DatabaseError."""
    log.configure()
    with _building:
        if run_id not in _stages:
            _stages[run_id] = _build(run_id)
        return _stages[run_id]


def leave(run_id: int) -> None:
    """Forget a run that is over."""
    with _building:
        stage = _stages.pop(run_id, None)
    if stage is not None:
        stage.close()


def _build(run_id: int) -> Stage:
    engine = connect()
    store = Store(engine)
    run: dict[str, Any] = queries.run(engine, run_id)
    plan = make_plan(make_spec(run["spec"], f"run {run_id}"))
    if digest(plan.all_tasks) != run["benchmark_digest"]:
        raise SpecError(f"the tasks of {plan.benchmark.name} have changed since run {run_id} was made: start a new run")
    saved = save_benchmark(store, plan.benchmark, plan.all_tasks)
    # Which of them are played is in the run's episodes: what counts as invalid may have changed since.
    tasks = {saved.task_ids[task.id]: task for task in plan.all_tasks}
    entrants = {save_entrant(store, entrant): entrant for entrant in plan.entrants}
    return Stage(store, plan, tasks, entrants)
