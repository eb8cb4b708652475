"""Schedules: deployments of the flow `scheduled-run`, created and managed through Prefect's API.

Importing this module imports Prefect.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
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
from prefect.states import Cancelled
from pydantic import ValidationError

from stackrank.db import queries
from stackrank.db.connection.errors import NotFound
from stackrank.db.writes.store import Store
from stackrank.flows.engine.deployments import PAGE, STRATEGIES, OnOverlap, asked
from stackrank.flows.engine.reporting import EVENT, LEADERBOARD
from stackrank.flows.engine.scheduled_run import SCHEDULED_RUN
from stackrank.flows.engine.supervisor import close
from stackrank.flows.runs.specification.spec import RunSpec, SpecError
from stackrank.settings import settings

Row = dict[str, Any]


def timing(cron: str | None, every_s: float | None, timezone: str) -> list[DeploymentScheduleCreate]:
    """Return the schedule for a cron expression or a number of seconds, or an empty list if neither is given.

    Raises SpecError for an invalid expression or time zone, and if both are given.
    """
    if cron and every_s:
        raise SpecError("a schedule has --cron or --every, not both: leave one out")
    try:
        if cron:
            return [DeploymentScheduleCreate(schedule=CronSchedule(cron=cron, timezone=timezone))]
        if every_s:
            every = IntervalSchedule(interval=timedelta(seconds=every_s), timezone=timezone)
            return [DeploymentScheduleCreate(schedule=every)]
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise SpecError(
            f"the schedule {cron or every_s} in {timezone} means nothing ({reason}): "
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
    given = spec.model_fields_set | {"owner", "project", "tags"}
    parameters = spec.model_dump(mode="json", include=given)
    paused = False
    with asked() as client:
        with suppress(NotFound):
            former = _find(client, name)
            paused = former.paused
            when = when or [DeploymentScheduleCreate(schedule=each.schedule) for each in former.schedules]
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
        return _row(client, _find(client, name))


def rows() -> list[Row]:
    """Return all schedules, sorted by name."""
    with asked() as client:
        return [_row(client, each) for each in sorted(SCHEDULED_RUN.stored(client), key=lambda each: each.name)]


def row(name: str) -> Row:
    """Return one schedule. Raises NotFound."""
    with asked() as client:
        return _row(client, _find(client, name))


def automation(row: Row) -> Row:
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
    with asked() as client:
        found = _find(client, name)
        if not paused:
            client.resume_deployment(found.id)
            return
        client.pause_deployment(found.id)
        # Prefect keeps flow runs that wait for the run before them, and would start them one after the other.
        while left := [each for each in _waiting(client, found, PAGE) if each.auto_scheduled]:
            for each in left:
                client.set_flow_run_state(each.id, Cancelled(message="its schedule was paused"))


def trigger(name: str, key: str | None) -> Row:
    """Start a run of a schedule now. Calls with the same `key` start only one run. Raises NotFound."""
    with asked() as client:
        found = _find(client, name)
        made = client.create_flow_run_from_deployment(found.id, idempotency_key=key)
        return {"schedule": name, "flow_run": str(made.id), "name": made.name, "state": made.state_name}


def unblock(name: str, store: Store, *, force: bool) -> Row:
    """Close, in Prefect, flow runs of dead workers that keep a schedule from starting its next run. Raises NotFound.

    `force`: also close flow runs whose run sent a heartbeat recently. The runs themselves stay unchanged, so that
    `stackrank resume` or a worker can continue them.
    """
    closed, alive = [], []
    living = {run["id"] for run in store.interrupted_runs()} - {
        run["id"] for run in store.interrupted_runs(settings().run_silent_s)
    }
    with asked() as client:
        found = _find(client, name)
        for each in _of(client, found, [StateType.RUNNING, StateType.CANCELLING], PAGE):
            if queries.run_of_flow(store.engine, str(each.id)) in living and not force:
                alive.append(each.name)
            else:
                close(client, each)
                closed.append(each.name)
        limit = found.global_concurrency_limit
        if limit is not None and not alive:
            # Otherwise, the slot of a worker that lost its lease stays occupied permanently.
            client.update_global_concurrency_limit(limit.name, GlobalConcurrencyLimitUpdate(active_slots=0))
    return {"schedule": name, "closed": closed, "alive": alive}


def remove(name: str) -> None:
    """Remove a schedule; its runs stay. Raises NotFound."""
    with asked() as client:
        found = _find(client, name)
        # Else workers would find the scheduled flow runs, and forever complain about the missing deployment.
        client.pause_deployment(found.id)
        for waiting in _waiting(client, found, PAGE):
            client.delete_flow_run(waiting.id)
        client.delete_deployment(found.id)


def _find(client: SyncPrefectClient, name: str) -> DeploymentResponse:
    try:
        return client.read_deployment_by_name(f"{SCHEDULED_RUN.flow.name}/{name}")
    except ObjectNotFound:
        raise NotFound(f"There is no schedule {name!r}: `stackrank schedule list` lists them.") from None


def _waiting(client: SyncPrefectClient, found: DeploymentResponse, limit: int) -> list[FlowRun]:
    """Return the flow runs of a schedule that have not started, the next one first."""
    return _of(client, found, [StateType.SCHEDULED], limit)


def _of(client: SyncPrefectClient, found: DeploymentResponse, states: list[StateType], limit: int) -> list[FlowRun]:
    return client.read_flow_runs(
        deployment_filter=DeploymentFilter(id=DeploymentFilterId(any_=[found.id])),
        flow_run_filter=FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=states))),
        sort=FlowRunSort.EXPECTED_START_TIME_ASC,
        limit=limit,
    )


def _row(client: SyncPrefectClient, found: DeploymentResponse) -> Row:
    when = found.schedules[0].schedule if found.schedules else None
    spec = found.parameters.get("spec", {})
    overlap = found.concurrency_options.collision_strategy if found.concurrency_options else None
    names = {strategy: name for name, strategy in STRATEGIES.items()}
    upcoming = _waiting(client, found, 1)
    following = upcoming[0].expected_start_time if upcoming else None
    return {
        "id": str(found.id),
        "name": found.name,
        "benchmark": spec.get("benchmark", ""),
        "leaderboard": spec.get("leaderboard") or found.name,
        "cron": when.cron if isinstance(when, CronSchedule) else None,
        "every_s": when.interval.total_seconds() if isinstance(when, IntervalSchedule) else None,
        "timezone": getattr(when, "timezone", None),
        "on_overlap": names[ConcurrencyLimitStrategy(overlap)] if overlap else None,
        "pool": found.work_pool_name,
        "tags": found.tags,
        "paused": found.paused,
        "next": following.isoformat() if following else None,
        "spec": spec,
    }
