"""What workers run: flows as deployments of Prefect, and the flow that a schedule starts.

Importing this module imports Prefect, which takes seconds: the command line does so only where it speaks to Prefect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from prefect import Flow, flow
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate, WorkPoolCreate
from prefect.client.schemas.objects import ConcurrencyLimitStrategy, ConcurrencyOptions, State
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound
from prefect.runtime import deployment, flow_run
from prefect.utilities.callables import parameter_schema
from prefect.workers.process import ProcessWorker

from db import queries
from db.engine import connect
from db.store import Store
from flows import log
from flows.evaluate import evaluate
from flows.plan import label_of, make_plan, run_label, save_run
from flows.spec import RunSpec

SILENT_S = 60.0
"""Seconds after which a run that was not heard of has lost its owner, who says every few that it is alive."""
OnOverlap = Literal["skip", "queue"]
STRATEGIES: dict[OnOverlap, ConcurrencyLimitStrategy] = {
    "skip": ConcurrencyLimitStrategy.CANCEL_NEW,
    "queue": ConcurrencyLimitStrategy.ENQUEUE,
}


def _scheduled_label() -> str:
    """`LEADERBOARD DATE · ENTRANTS`, known before the run has a row."""
    # As somebody wrote it in Prefect's pages, perhaps: a matrix of entrants becomes a list by validation.
    spec = RunSpec.model_validate(flow_run.parameters["spec"])
    start = flow_run.scheduled_start_time or datetime.now().astimezone()
    return run_label(spec.leaderboard or deployment.name or spec.benchmark, start, [e.label for e in spec.entrants])


@flow(name="scheduled-run", flow_run_name=_scheduled_label, persist_result=False)
def scheduled_run(spec: RunSpec) -> State[Any]:
    """Make a run from its specification, and play it. A retry of the same flow run goes on with the run it made.

    First what an earlier run of the schedule left is played, if its worker died: nobody may be there to say `resume`.
    """
    log.configure()
    engine = connect()
    schedule = str(deployment.name or "")
    flow_run_id = str(flow_run.id)
    for left in Store(engine).interrupted_runs(SILENT_S):
        if schedule and left["schedule"] == schedule and left["prefect_flow_run_id"] != flow_run_id:
            log.warning("going on with a run that was cut off", run=left["id"])
            evaluate(run_id=left["id"], label=label_of(queries.run(engine, left["id"])), return_state=True)
    run_id = queries.run_of_flow(engine, flow_run_id)
    if run_id is None:
        spec = spec.model_copy(update={"leaderboard": spec.leaderboard or schedule})
        run_id = save_run(Store(engine), make_plan(spec, engine), schedule=schedule, flow_run_id=flow_run_id)
    state: State[Any] = evaluate(run_id=run_id, label=label_of(queries.run(engine, run_id)), return_state=True)
    return state


@dataclass(frozen=True)
class Workflow:
    """A flow that workers run, and how many of its runs may go on at the same time."""

    flow: Flow[..., Any]
    limit: int | None
    """Flow runs of one deployment at the same time; None: no limit."""

    @property
    def entrypoint(self) -> str:
        """Where a worker imports it from; it has stackrank installed, so nothing is fetched."""
        return f"{self.flow.fn.__module__}.{self.flow.fn.__qualname__}"

    def deploy(
        self,
        client: SyncPrefectClient,
        *,
        name: str,
        pool: str,
        parameters: dict[str, Any],
        schedules: Sequence[DeploymentScheduleCreate] = (),
        tags: Sequence[str] = (),
        on_overlap: OnOverlap = "queue",
        description: str = "",
    ) -> UUID:
        """Create the deployment FLOW/NAME, or make it what is said here."""
        ensure_pool(client, pool)
        return client.create_deployment(
            flow_id=client.create_flow_from_name(self.flow.name),
            name=name,
            entrypoint=self.entrypoint,
            work_pool_name=pool,
            parameters=parameters,
            parameter_openapi_schema=parameter_schema(self.flow).model_dump(exclude_unset=True),
            enforce_parameter_schema=True,
            schedules=list(schedules),
            concurrency_limit=self.limit,
            concurrency_options=ConcurrencyOptions(collision_strategy=STRATEGIES[on_overlap]) if self.limit else None,
            tags=list(tags),
            description=description,
            paused=False,
            pull_steps=[],
        )


EVALUATION = Workflow(scheduled_run, limit=1)


def make_pool(name: str) -> None:
    """`ensure_pool` for who has no client."""
    with get_client(sync_client=True) as client:
        ensure_pool(client, name)


def ensure_pool(client: SyncPrefectClient, name: str) -> None:
    """Create a process pool of this name, unless there is a pool: of whatever kind, it is used as it is."""
    try:
        client.read_work_pool(name)
    except ObjectNotFound:
        template = ProcessWorker.get_default_base_job_template()
        pool = WorkPoolCreate(name=name, type=ProcessWorker.type, base_job_template=template)
        try:
            client.create_work_pool(pool)
        except ObjectAlreadyExists:
            return  # somebody else was faster
