"""The flow that continues a run that sends no more heartbeats, or that ended with errors that may not recur.

Importing this module imports Prefect.
"""

from __future__ import annotations

from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from stackrank import log
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.flows.engine.deployments import Workflow
from stackrank.flows.engine.evaluate import evaluate
from stackrank.flows.runs.preparing.prepared_run import check
from stackrank.flows.runs.preparing.stored_run import label_of
from stackrank.flows.runs.specification.spec import make_spec


@flow(name="resumed-run", flow_run_name="resume run {run_id}", persist_result=False)
def resumed_run(run_id: int) -> State[Any]:
    """Continue a run. Raises SpecError if this machine cannot play it, and leaves it unchanged for other machines."""
    log.configure()
    row = queries.run(connect(), run_id)
    check(make_spec(row["spec"], f"run {run_id}"))
    state: State[Any] = evaluate(run_id=run_id, label=label_of(row), return_state=True)
    return state


RESUMED_RUN = Workflow(resumed_run, limit=None)
