"""Plays a run on several machines: it is split into shards, which are flow runs that any worker of a pool takes.

A shard is not a list of episodes. It claims the next open episodes of the run, up to a number. So it does not matter
whether a shard dies or is started twice, or whether a worker is slow: the database says what is left.

Importing this module imports Prefect.
"""

from __future__ import annotations

import math
import time
from typing import Any
from uuid import UUID

import httpx
from prefect import flow
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterId,
    FlowRunFilterState,
    FlowRunFilterStateType,
    FlowRunFilterTags,
)
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.client.schemas.sorting import FlowRunSort
from prefect.exceptions import PrefectException
from prefect.runtime import flow_run
from prefect.states import Completed, Failed

from stackrank import log
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.flows.engine.deployments import Workflow, is_unserved, run_tag
from stackrank.flows.engine.episodes import drive
from stackrank.flows.runs.playing.claims import ClaimWatch
from stackrank.flows.runs.playing.driver import budget_spent, too_many_errors
from stackrank.flows.runs.playing.outages import Outages
from stackrank.flows.runs.playing.query_throttle import rest_s
from stackrank.flows.runs.playing.session import Session, join_run, leave_run
from stackrank.settings import settings
from stackrank.terms import RunStatus

TICK_S = 2.0
ENDING_S = 10.0
MAX_FAILED_SHARDS = 3
"""The run ends when this many shards fail in a row and none of them has played an episode."""


@flow(name="shard", flow_run_name="run {run_id} · shard {number}", persist_result=False)
def shard(run_id: int, number: int, size: int, probes: bool = False) -> State[Any]:
    """Play up to `size` open episodes of a run in progress. `probes`: try endpoints again that did not answer."""
    status = queries.run(connect(), run_id)["status"]
    if status != RunStatus.RUNNING:
        return Completed(message=f"the run is {status}")
    session = join_run(run_id)
    try:
        session.claims.start_heartbeat()
        early_end = drive(session, limit=size, probes=probes)
    finally:
        leave_run(run_id)
    return Failed(message=early_end) if early_end else Completed()


SHARD = Workflow(shard, limit=None)


def lead_shards(session: Session) -> str:
    """Let the workers of the pool play the run, and wait for them. Returns why the run ended early, else empty."""
    spec, run_id, store = session.run.spec, session.run_id, session.store
    watch, outages, submitted = ClaimWatch(), Outages(session), 0
    episodes_ended, idle_shards = -1, list[UUID]()  # `idle_shards`: those submitted since an episode was last played
    first_seen: dict[UUID, float] = {}
    with get_client(sync_client=True) as client:
        deployment = SHARD.deploy(client, name=spec.pool, pool=spec.pool, parameters={})
        tag = run_tag(store.engine, run_id)
        while session.is_open():
            for void in watch.find_void(store.claims(run_id), ()):
                store.free(void["id"], last_claim=void)
            claims, query_start = store.claims(run_id), time.monotonic()
            counts = queries.progress(store.engine, run_id)
            pending = counts["pending"]
            # Both counts come from one query, because an episode may be claimed between two queries.
            if not pending + counts["running"]:
                return ""
            if reason := budget_spent(session) or too_many_errors(session):
                return reason
            pause_s = max(TICK_S, rest_s(time.monotonic() - query_start))
            outages.refresh({row["id"] for row in claims})
            held_back = store.count_waiting(run_id, outages.waiting) if outages.waiting else 0
            if held_back == pending and not claims and held_back and outages.is_hopeless(spec.endpoint_silence_s):
                return outages.describe()
            if claims or counts["done"] != episodes_ended:
                episodes_ended, idle_shards = counts["done"], []
            workers = {row["claimed_by"] for row in claims}
            missing = math.ceil((pending - held_back) / spec.shard_size) - len(workers)
            probes = bool(held_back) and outages.any_due()
            try:
                if (missing > 0 or probes) and not _is_shard_expected(client, tag, first_seen):
                    if reason := _failure_of(client, idle_shards):
                        return f"the workers of the pool {spec.pool} cannot play the run: {reason}"
                    new_shards = [*[(1, True)] * probes, *[(spec.shard_size, False)] * missing]
                    for size, asks in new_shards:
                        submitted += 1
                        idle_shards.append(_submit(client, deployment, run_id, tag, submitted, size, asks))
                    log.info("shards submitted", run=run_id, shards=len(new_shards), pool=spec.pool)
                    if submitted == len(new_shards) and is_unserved(client, spec.pool):
                        warning = f"no worker serves the pool: start one with `stackrank worker --pool {spec.pool}`"
                        log.warning(warning, run=run_id)
            except (httpx.HTTPError, PrefectException) as error:
                log.warning("could not submit shards to Prefect", run=run_id, error=error)
            time.sleep(pause_s)
    if session.is_over():
        session.end_run(RunStatus.CANCELLED, "cancelled")
    deadline = time.monotonic() + ENDING_S
    while store.claims(run_id) and time.monotonic() < deadline:
        time.sleep(0.2)
    return ""


def _is_shard_expected(client: SyncPrefectClient, tag: str, first_seen: dict[UUID, float]) -> bool:
    """Return whether shards of the run wait for a worker or have just started. `first_seen`: see `_is_young`."""
    states = [StateType.SCHEDULED, StateType.PENDING, StateType.RUNNING]
    active = client.read_flow_runs(
        flow_run_filter=FlowRunFilter(
            tags=FlowRunFilterTags(all_=[tag]),
            state=FlowRunFilterState(type=FlowRunFilterStateType(any_=states)),
        )
    )
    return any(_is_young(shard_run, first_seen) for shard_run in active)


def _is_young(shard: FlowRun, first_seen: dict[UUID, float]) -> bool:
    """Return whether a shard may still claim its first episodes. An older one that has none is not waited for.

    `first_seen`: when this process first saw each shard running, by its own clock. The start time comes from the clock
    of the shard's machine, and says nothing here.
    """
    if shard.state_type is not StateType.RUNNING or shard.start_time is None:
        return True
    watched_s = time.monotonic() - first_seen.setdefault(shard.id, time.monotonic())
    return watched_s < settings().silent_s


def _failure_of(client: SyncPrefectClient, shards: list[UUID]) -> str:
    """Return the latest error of these shards if MAX_FAILED_SHARDS of them failed, else an empty text."""
    if len(shards) < MAX_FAILED_SHARDS:
        return ""
    failed_states = FlowRunFilterStateType(any_=[StateType.FAILED, StateType.CRASHED])
    failed_filter = FlowRunFilter(id=FlowRunFilterId(any_=shards), state=FlowRunFilterState(type=failed_states))
    failed = client.read_flow_runs(flow_run_filter=failed_filter, sort=FlowRunSort.END_TIME_DESC)
    if len(failed) < MAX_FAILED_SHARDS:
        return ""
    return (failed[0].state and failed[0].state.message) or "their shards failed"


def _submit(
    client: SyncPrefectClient, deployment: UUID, run_id: int, tag: str, number: int, size: int, probes: bool
) -> UUID:
    started = client.create_flow_run_from_deployment(
        deployment,
        parameters={"run_id": run_id, "number": number, "size": size, "probes": probes},
        tags=[tag],
        idempotency_key=f"{flow_run.id}-{flow_run.run_count}-{number}",
    )
    return started.id
