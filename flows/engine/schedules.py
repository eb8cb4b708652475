"""Schedules: deployments of the flow `scheduled-run`, created and managed through Prefect's API.

Importing this module imports Prefect.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import DeploymentScheduleCreate, GlobalConcurrencyLimitUpdate
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import ConcurrencyLimitStrategy, FlowRun, StateType
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.schedules import CronSchedule, IntervalSchedule
from prefect.client.schemas.sorting import FlowRunSort
from prefect.exceptions import ObjectNotFound
from prefect.server.schemas.schedules import SCHEDULE_TYPES as SERVER_SCHEDULE_TYPES
from prefect.states import Cancelled
from pydantic import BaseModel, TypeAdapter, ValidationError

from stackrank.db import queries
from stackrank.db.connection.errors import NotFound
from stackrank.db.writes.store import Store
from stackrank.flows.engine.dead_flow_runs import close_flow_run
from stackrank.flows.engine.deployed_runs import SCHEDULED_RUN
from stackrank.flows.engine.deployments import PAGE, STRATEGIES, OnOverlap, prefect_client
from stackrank.flows.engine.reporting import EVENT, LEADERBOARD
from stackrank.flows.runs.specification.spec import RunSpec, SpecError
from stackrank.settings import settings

Row = dict[str, Any]
_SERVER_TIMES: TypeAdapter[SERVER_SCHEDULE_TYPES] = TypeAdapter(SERVER_SCHEDULE_TYPES)


def parse_timing(cron: str | None, every_s: float | None, timezone: str) -> list[DeploymentScheduleCreate]:
    """Return the schedule for a cron expression or a number of seconds, or an empty list if neither is given.

    Raises SpecError for an invalid expression or time zone, and if both are given.
    """
    if cron and every_s:
        raise SpecError("--cron and --every exclude each other: leave one out")
    try:
        if cron:
            return [DeploymentScheduleCreate(schedule=CronSchedule(cron=cron, timezone=timezone))]
        if every_s:
            every = IntervalSchedule(interval=timedelta(seconds=every_s), timezone=timezone)
            return [DeploymentScheduleCreate(schedule=every)]
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise SpecError(
            f"the schedule {cron or every_s} in {timezone} is invalid ({reason}): "
            'a cron expression is for instance "0 3 * * *", a time zone Europe/Berlin'
        ) from None
    return []


def add(
    spec: RunSpec,
    *,
    name: str,
    pool: str,
    when: list[DeploymentScheduleCreate],
    tags: list[str],
    on_overlap: OnOverlap,
) -> Row:
    """Create the schedule `name`, or update an existing one to these values.

    An existing one stays paused if it is, and keeps its times if `when` is empty.
    """
    # Leave out fields whose defaults depend on the machine, so that the worker's machine sets them. The owner is the
    # person who creates the schedule.
    field_names = spec.model_fields_set | {"owner", "project", "tags"}
    parameters = spec.model_dump(mode="json", include=field_names)
    paused = False
    with prefect_client() as client:
        with suppress(NotFound):
            former = _find_deployment(client, name)
            paused = former.paused
            when = when or [DeploymentScheduleCreate(schedule=schedule.schedule) for schedule in former.schedules]
        SCHEDULED_RUN.deploy(
            client,
            name=name,
            pool=pool,
            parameters={"spec": parameters},
            schedules=when,
            tags=tags,
            on_overlap=on_overlap,
            paused=paused,
            description=f"Plays {spec.benchmark} for the leaderboard {spec.leaderboard or name}.",
        )
        return _row(client, _find_deployment(client, name))


def list_schedules() -> list[Row]:
    """Return all schedules, sorted by name."""
    with prefect_client() as client:
        deployments = sorted(SCHEDULED_RUN.list_deployments(client), key=lambda deployment: deployment.name)
        return [_row(client, deployment) for deployment in deployments]


def find_schedule(name: str) -> Row:
    """Return one schedule. Raises NotFound."""
    with prefect_client() as client:
        return _row(client, _find_deployment(client, name))


def make_automation(row: Row) -> Row:
    """Return a Prefect automation that pauses the schedule when a run of its leaderboard is worse than the last one."""
    return {
        "name": f"pause {row['name']} when it gets worse",
        "trigger": {
            "type": "event",
            "posture": "Reactive",
            "expect": [EVENT],
            "match": {"prefect.resource.id": f"{LEADERBOARD}{row['leaderboard']}"},
            "threshold": 1,
            "within": 0,
        },
        "actions": [{"type": "pause-deployment", "source": "selected", "deployment_id": row["id"]}],
    }


def set_paused(name: str, paused: bool) -> None:
    """Pause or resume a schedule. Runs in progress continue. Raises NotFound."""
    with prefect_client() as client:
        deployment = _find_deployment(client, name)
        if not paused:
            client.resume_deployment(deployment.id)
            return
        client.pause_deployment(deployment.id)
        # Prefect keeps flow runs that wait for the run before them, and would start them one after the other.
        while waiting := [
            waiting_run for waiting_run in _list_waiting(client, deployment, PAGE) if waiting_run.auto_scheduled
        ]:
            for waiting_run in waiting:
                client.set_flow_run_state(waiting_run.id, Cancelled(message="its schedule was paused"))


def trigger(name: str, key: str | None) -> Row:
    """Start a run of a schedule now. Calls with the same `key` start only one run. Raises NotFound."""
    with prefect_client() as client:
        deployment = _find_deployment(client, name)
        started = client.create_flow_run_from_deployment(deployment.id, idempotency_key=key)
        return {"schedule": name, "flow_run": str(started.id), "name": started.name, "state": started.state_name}


def unblock(name: str, store: Store, *, force: bool) -> Row:
    """Close, in Prefect, flow runs of dead workers that keep a schedule from starting its next run. Raises NotFound.

    `force`: also close flow runs whose run sent a heartbeat recently. The runs themselves stay unchanged, so that
    `stackrank resume` or a worker can continue them.
    """
    closed, alive = [], []
    living = {run["id"] for run in store.interrupted_runs()} - {
        run["id"] for run in store.interrupted_runs(settings().run_silent_s)
    }
    with prefect_client() as client:
        deployment = _find_deployment(client, name)
        for active in _list_flow_runs(client, deployment, [StateType.RUNNING, StateType.CANCELLING], PAGE):
            if queries.run_of_flow(store.engine, str(active.id)) in living and not force:
                alive.append(active.name)
            else:
                close_flow_run(client, active)
                closed.append(active.name)
        limit = deployment.global_concurrency_limit
        if limit is not None and not alive:
            # Otherwise, the slot of a worker that lost its lease stays occupied permanently.
            client.update_global_concurrency_limit(limit.name, GlobalConcurrencyLimitUpdate(active_slots=0))
    return {"schedule": name, "closed": closed, "alive": alive}


def remove(name: str) -> None:
    """Remove a schedule; its runs stay. Raises NotFound."""
    with prefect_client() as client:
        deployment = _find_deployment(client, name)
        # Else workers would find the scheduled flow runs, and forever complain about the missing deployment.
        client.pause_deployment(deployment.id)
        for waiting in _list_waiting(client, deployment, PAGE):
            client.delete_flow_run(waiting.id)
        client.delete_deployment(deployment.id)


def _find_deployment(client: SyncPrefectClient, name: str) -> DeploymentResponse:
    try:
        return client.read_deployment_by_name(f"{SCHEDULED_RUN.flow.name}/{name}")
    except ObjectNotFound:
        raise NotFound(f"There is no schedule {name!r}: `stackrank schedule list` lists them.") from None


def _list_waiting(client: SyncPrefectClient, deployment: DeploymentResponse, limit: int) -> list[FlowRun]:
    """Return the flow runs of a schedule that have not started, the next one first."""
    return _list_flow_runs(client, deployment, [StateType.SCHEDULED], limit)


def _list_flow_runs(
    client: SyncPrefectClient, deployment: DeploymentResponse, states: list[StateType], limit: int
) -> list[FlowRun]:
    return client.read_flow_runs(
        deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[deployment.id])),
        flow_run_filter=FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=states))),
        sort=FlowRunSort.EXPECTED_START_TIME_ASC,
        limit=limit,
    )


def _find_next_start(client: SyncPrefectClient, deployment: DeploymentResponse) -> datetime | None:
    """Return when the next run of a schedule starts.

    The server creates the flow runs of a schedule some seconds after the schedule. Until then, its times say so.
    """
    if waiting := _list_waiting(client, deployment, 1):
        return waiting[0].expected_start_time
    active = [timing for timing in deployment.schedules if timing.active and not deployment.paused]
    times = [date for timing in active for date in asyncio.run(_as_server(timing.schedule).get_dates(1))]
    return min(times).astimezone(UTC) if times else None


def _as_server(timing: BaseModel) -> SERVER_SCHEDULE_TYPES:
    """Return the times of a schedule as the server has them, which alone work out dates."""
    return _SERVER_TIMES.validate_python(timing.model_dump())


def _row(client: SyncPrefectClient, deployment: DeploymentResponse) -> Row:
    when = deployment.schedules[0].schedule if deployment.schedules else None
    spec = deployment.parameters.get("spec", {})
    overlap = deployment.concurrency_options.collision_strategy if deployment.concurrency_options else None
    names = {strategy: name for name, strategy in STRATEGIES.items()}
    next_start = _find_next_start(client, deployment)
    return {
        "id": str(deployment.id),
        "name": deployment.name,
        "benchmark": spec.get("benchmark", ""),
        "leaderboard": spec.get("leaderboard") or deployment.name,
        "cron": when.cron if isinstance(when, CronSchedule) else None,
        "every_s": when.interval.total_seconds() if isinstance(when, IntervalSchedule) else None,
        "timezone": getattr(when, "timezone", None),
        "on_overlap": names[ConcurrencyLimitStrategy(overlap)] if overlap else None,
        "pool": deployment.work_pool_name,
        "tags": deployment.tags,
        "paused": deployment.paused,
        "next": next_start.isoformat() if next_start else None,
        "spec": spec,
    }
