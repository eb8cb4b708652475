"""Runs without Prefect: what a run is made of, played one episode after the other in this process."""

from __future__ import annotations

import threading
from typing import Any

from db.engine import connect
from db.store import Store
from flows.driver import Claim, Done, Driver, reopen_errors
from flows.episode import play_episode
from flows.plan import make_plan, save_run
from flows.spec import make_spec
from flows.stage import leave, stage_of
from tests.env.conftest import usable


def play_run(**spec: Any) -> int:
    """Play a run in bubblewrap sandboxes, where nothing else is asked for, and return its id."""
    usable(spec.setdefault("sandbox", "bubblewrap"))
    run_id = make_run(**{"workers": 1, **spec})
    drive(run_id)
    return run_id


def make_run(**spec: Any) -> int:
    """A run that nobody plays yet."""
    return save_run(Store(connect()), make_plan(make_spec({"benchmark": "bugs", **spec}, "the test")))


def drive(run_id: int, *, limit: int | None = None) -> str:
    """Play what is left of a run in threads of this process. Returns why it ended early."""
    stage = stage_of(run_id)

    def submit(claim: Claim, done: Done) -> None:
        def work() -> None:
            try:
                play_episode(stage, claim)
            except BaseException as error:
                done(error)
            else:
                done(None)

        threading.Thread(target=work, daemon=True).start()

    stage.store.start_run(run_id)
    reopen_errors(stage)
    stage.start_heart()
    try:
        return Driver(stage, submit, limit=limit).run()
    finally:
        leave(run_id)
