"""Runs without Prefect: what a run is made of, played one episode after the other in this process."""

from __future__ import annotations

from typing import Any

from db.engine import connect
from db.store import Store
from flows.episode import play_episode
from flows.plan import make_plan, save_run
from flows.spec import make_spec
from flows.stage import leave, stage_of
from tests.env.conftest import usable


def play_run(**spec: Any) -> int:
    """Play a run in bubblewrap sandboxes, where nothing else is asked for, and return its id."""
    usable(spec.setdefault("sandbox", "bubblewrap"))
    store = Store(connect())
    run_id = save_run(store, make_plan(make_spec({"benchmark": "bugs", "workers": 1, **spec}, "the test")))
    try:
        stage = stage_of(run_id)
        for row in store.unfinished_episodes(run_id):
            play_episode(stage, row["id"], stage.tasks[row["task_id"]], stage.entrants[row["entrant_id"]])
    finally:
        leave(run_id)
    return run_id
