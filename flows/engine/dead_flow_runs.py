"""Ends, in Prefect, the flow runs of dead processes. Otherwise its pages would show them as running for ever.

Importing this module imports Prefect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterId,
    TaskRunFilter,
    TaskRunFilterState,
    TaskRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.exceptions import ObjectNotFound
from prefect.runtime import flow_run
from prefect.states import Crashed
from sqlalchemy import Engine

from stackrank import log
from stackrank.flows.engine.deployments import PAGE
from stackrank.flows.runs.operating.absence import is_held, is_played

ACTIVE = [StateType.RUNNING, StateType.CANCELLING]
_REASON = "its worker is dead"


def close_flow_run(client: SyncPrefectClient, dead: FlowRun) -> None:
    """End a flow run whose worker is dead, and its task runs, so that nothing waits for it."""
    states = TaskRunFilter(state=TaskRunFilterState(type=TaskRunFilterStateType(any_=ACTIVE)))
    of_dead = FlowRunFilter(id=FlowRunFilterId(any_=[dead.id]))
    while page := client.read_task_runs(flow_run_filter=of_dead, task_run_filter=states, limit=PAGE):
        for task_run in page:
            client.set_task_run_state(task_run.id, Crashed(message=_REASON), force=True)
    client.set_flow_run_state(dead.id, Crashed(message=_REASON), force=True)
    log.warning("closed a flow run of a dead worker", flow_run=dead.name)


def close_former(engine: Engine, run: Mapping[str, Any]) -> None:
    """End the flow run that played a run before the current one, if its process is dead. `run`: the row of the run."""
    own = {flow_run.id, flow_run.parent_flow_run_id, flow_run.root_flow_run_id}
    former = run["prefect_flow_run_id"]
    if not former or former in map(str, own) or is_played(engine, run) or is_held(engine, run["id"]):
        return
    try:
        with get_client(sync_client=True) as client:
            dead = client.read_flow_run(UUID(former))
            if dead.state is not None and dead.state.type in ACTIVE:
                close_flow_run(client, dead)
    except ObjectNotFound:
        pass  # another Prefect server knows it
    except Exception as error:  # of any kind: only Prefect's pages would be wrong
        log.warning("could not close the flow run of a dead worker", flow_run=former, error=error)
