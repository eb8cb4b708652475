"""The flows that deployments start: a schedule creates and plays a run, a supervisor resumes one.

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
from stackrank.flows.runs.preparing.prepared_run import check, prepare
from stackrank.flows.runs.preparing.stored_run import create_run, label_of, run_label
from stackrank.flows.runs.specification.spec import RunSpec, make_spec
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
    for interrupted in Store(engine).interrupted_runs(settings().run_silent_s):
        if schedule and interrupted["schedule"] == schedule and interrupted["prefect_flow_run_id"] != flow_run_id:
            log.warning("continuing an interrupted run", run=interrupted["id"])
            evaluate(
                run_id=interrupted["id"], label=label_of(queries.run(engine, interrupted["id"])), return_state=True
            )
    run_id = queries.run_of_flow(engine, flow_run_id)
    if run_id is None:
        spec = spec.model_copy(update={"leaderboard": spec.leaderboard or schedule})
        prepared = prepare(spec, log.info, engine)
        stored = create_run(Store(engine), prepared, schedule=schedule, flow_run_id=flow_run_id)
        run_id = open_session(stored).run_id
    state: State[Any] = evaluate(run_id=run_id, label=label_of(queries.run(engine, run_id)), return_state=True)
    return state


SCHEDULED_RUN = Workflow(scheduled_run, limit=1)


@flow(name="resumed-run", flow_run_name="resume run {run_id}", persist_result=False)
def resumed_run(run_id: int) -> State[Any]:
    """Continue a run. Raises SpecError if this machine cannot play it, and leaves it unchanged for other machines."""
    log.configure()
    row = queries.run(connect(), run_id)
    check(make_spec(row["spec"], f"run {run_id}"))
    state: State[Any] = evaluate(run_id=run_id, label=label_of(row), return_state=True)
    return state


RESUMED_RUN = Workflow(resumed_run, limit=None)
