"""The flow that a schedule starts: it creates a run and plays it.

Importing this module imports Prefect.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import deployment, flow_run

from stackrank import log
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.flows.engine.deployments import Workflow
from stackrank.flows.engine.evaluate import evaluate
from stackrank.flows.runs.playing.session import open_session
from stackrank.flows.runs.preparing.build import build
from stackrank.flows.runs.preparing.check import check
from stackrank.flows.runs.preparing.save import label_of, run_label, save_run
from stackrank.flows.runs.specification.spec import RunSpec
from stackrank.settings import settings


def _scheduled_label() -> str:
    """Return `LEADERBOARD DATE · ENTRANTS`, which is needed before the run has a row."""
    # Somebody may have edited the specification on Prefect's pages. Validation makes a list of a matrix of entrants.
    spec = RunSpec.model_validate(flow_run.parameters["spec"])
    start = flow_run.scheduled_start_time or datetime.now().astimezone()
    return run_label(spec.leaderboard or deployment.name or spec.benchmark, start, [e.label for e in spec.entrants])


@flow(name="scheduled-run", flow_run_name=_scheduled_label, persist_result=False)
def scheduled_run(spec: RunSpec) -> State[Any]:
    """Create a run from its specification, and play it. A retry of the same flow run continues the run it created.

    If the worker of an earlier run of the schedule died, that run is finished first, because nobody may be there to
    call `stackrank resume`.
    """
    log.configure()
    engine = connect()
    schedule = str(deployment.name or "")
    flow_run_id = str(flow_run.id)
    for left in Store(engine).interrupted_runs(settings().run_silent_s):
        if schedule and left["schedule"] == schedule and left["prefect_flow_run_id"] != flow_run_id:
            log.warning("going on with a run that was cut off", run=left["id"])
            evaluate(run_id=left["id"], label=label_of(queries.run(engine, left["id"])), return_state=True)
    run_id = queries.run_of_flow(engine, flow_run_id)
    if run_id is None:
        spec = spec.model_copy(update={"leaderboard": spec.leaderboard or schedule})
        run = build(check(spec, engine), log.info)
        run_id = save_run(Store(engine), run, schedule=schedule, flow_run_id=flow_run_id)
        open_session(run_id, run)
    state: State[Any] = evaluate(run_id=run_id, label=label_of(queries.run(engine, run_id)), return_state=True)
    return state


SCHEDULED_RUN = Workflow(scheduled_run, limit=1)
