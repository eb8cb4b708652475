"""Continues abandoned runs, at night too. Every worker does so besides its other work; one worker is enough.

Importing this module imports Prefect.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
    WorkPoolFilter,
    WorkPoolFilterName,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.states import Scheduled

from stackrank import log
from stackrank.db import queries
from stackrank.db.writes.store import Store
from stackrank.flows.engine.dead_flow_runs import ACTIVE, close_flow_run
from stackrank.flows.engine.deployed_runs import RESUMED_RUN, SCHEDULED_RUN
from stackrank.flows.engine.deployments import PAGE, run_tag
from stackrank.flows.engine.evaluate import evaluate
from stackrank.flows.engine.shards import SHARD
from stackrank.flows.runs.playing.abandoned_runs import AbandonedRuns
from stackrank.flows.runs.playing.liveness import SilenceWatch

EVERY_S = 15.0
LOOKS = 8
"""How many looks in a row must find a flow run's run over before the flow run is closed: this takes two minutes."""
START_S = {"process": 120.0}
"""Pool type -> how long a living worker takes, at most, to start a flow run that it has taken."""
LONGEST_START_S = 1800.0
"""The same for other pools, which may have to wait for a machine or an image first."""
_FLOWS = [evaluate.name, RESUMED_RUN.flow.name, SCHEDULED_RUN.flow.name, SHARD.flow.name]


class Supervisor:
    """Looks regularly for runs that nobody plays and for flow runs whose worker is dead."""

    def __init__(self, store: Store, pool: str) -> None:
        """`pool`: the work pool whose workers continue abandoned runs."""
        self._store = store
        self._pool = pool
        self._abandoned = AbandonedRuns(store)
        self._pending_watch = SilenceWatch()
        self._resume_keys: set[str] = set()
        self._looks: dict[UUID, int] = {}
        """Flow runs whose run is over and played by nobody -> the number of looks in a row that found this."""

    def start(self) -> None:
        """Look every few seconds, in a thread, until this process ends."""
        threading.Thread(target=self._watch, name="supervisor", daemon=True).start()

    def _watch(self) -> None:
        pause = threading.Event()
        while not pause.wait(EVERY_S):
            try:
                self.resume_abandoned()
            except Exception as error:  # of any kind: the supervisor must survive it
                log.warning("could not look for abandoned runs", error=error)

    def resume_abandoned(self) -> None:
        """Close dead flow runs, and continue the runs that are abandoned by now."""
        silent = {run["id"]: f"silent since {run['heartbeat_at']}" for run in self._abandoned.silent()}
        with get_client(sync_client=True) as client:
            # Comes first: while the old flow run of a schedule counts as running, the schedule starts no new one.
            self._close_dead(client, silent)
            self._reschedule_stuck(client)
            for run_id, reason in silent.items():
                self._resume(client, run_id, reason)
            for failed_run in self._abandoned.take_failed():
                self._resume(client, failed_run["id"], f"with errors at {failed_run['ended_at']}")

    def _resume(self, client: SyncPrefectClient, run_id: int, reason: str) -> None:
        tag = run_tag(self._store.engine, run_id)
        if (key := f"{tag} {reason}") in self._resume_keys:
            return
        deployment = RESUMED_RUN.deploy(client, name=self._pool, pool=self._pool, parameters={})
        # The same key gives the same flow run, however many supervisors ask for it.
        started = client.create_flow_run_from_deployment(
            deployment, parameters={"run_id": run_id}, tags=[tag], idempotency_key=key
        )
        self._resume_keys.add(key)
        log.warning("resuming an abandoned run", run=run_id, why=reason, pool=self._pool, flow_run=started.name)

    def _reschedule_stuck(self, client: SyncPrefectClient) -> None:
        """Reschedule this pool's flow runs that a worker took and never started. Otherwise nobody would start them, and
        their slots would stay occupied."""
        pool = WorkPoolFilter(name=WorkPoolFilterName(any_=[self._pool]))
        names = FlowFilter(name=FlowFilterName(any_=_FLOWS))
        state = FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.PENDING]))
        pending_runs = client.read_flow_runs(
            flow_filter=names, flow_run_filter=FlowRunFilter(state=state), work_pool_filter=pool, limit=PAGE
        )
        if not pending_runs:
            return
        taken_s = START_S.get(client.read_work_pool(self._pool).type, LONGEST_START_S)
        never_started = self._pending_watch.find_silent(
            {pending.id: pending.state_id for pending in pending_runs}, taken_s
        )
        for pending in pending_runs:
            if pending.id in never_started:
                client.set_flow_run_state(pending.id, Scheduled(message="its worker never started it"))
                log.warning("rescheduled a flow run that its worker never started", flow_run=pending.name)

    def _close_dead(self, client: SyncPrefectClient, silent: Mapping[int, str]) -> None:
        """End, in Prefect, flow runs whose worker is dead: the run is silent, or is over and has no claims."""
        looks: dict[UUID, int] = {}
        for active, run_id, key in list_active(client, self._store):
            if run_id in silent:
                if key.endswith(silent[run_id]):  # it was just started to continue the run
                    continue
            else:
                run = queries.run_state(self._store.engine, run_id)
                if not run or not run["over"] or self._store.claims(run_id):
                    continue
                # It may still be reporting the result.
                looks[active.id] = self._looks.get(active.id, 0) + 1
                if looks[active.id] < LOOKS:
                    continue
            close_flow_run(client, active)
        self._looks = looks


def list_active(client: SyncPrefectClient, store: Store) -> list[tuple[FlowRun, int, str]]:
    """Return the flow runs that are active according to Prefect, each with the run of this database that it plays, and
    the idempotency key of the flow run or of its caller."""
    active_runs: list[FlowRun] = []
    names = FlowFilter(name=FlowFilterName(any_=_FLOWS))
    states = FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=ACTIVE)))
    while page := client.read_flow_runs(flow_filter=names, flow_run_filter=states, limit=PAGE, offset=len(active_runs)):
        active_runs += page
    runs: dict[UUID, tuple[int, str]] = {}
    for active in active_runs:
        if (run_id := _run_of(store, active)) is not None:
            runs[active.id] = (run_id, active.idempotency_key or "")
    for active in active_runs:
        if active.id not in runs and active.parent_task_run_id:  # called by a flow run whose run is known
            caller = client.read_task_run(active.parent_task_run_id).flow_run_id
            if caller in runs:
                runs[active.id] = runs[caller]
    return [(active, *runs[active.id]) for active in active_runs if active.id in runs]


def _run_of(store: Store, flow_run: FlowRun) -> int | None:
    run_id = (flow_run.parameters or {}).get("run_id")
    if run_id is not None and run_tag(store.engine, int(run_id)) in flow_run.tags:
        return int(run_id)
    return queries.run_of_flow(store.engine, str(flow_run.id))
