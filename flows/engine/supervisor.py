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
from prefect.states import Crashed, Scheduled

from stackrank import log
from stackrank.db import queries
from stackrank.db.writes.store import Store
from stackrank.flows.engine.deployments import PAGE, run_tag
from stackrank.flows.engine.evaluate import evaluate
from stackrank.flows.engine.resumed_run import RESUMED_RUN
from stackrank.flows.engine.scheduled_run import SCHEDULED_RUN
from stackrank.flows.engine.shards import SHARD
from stackrank.flows.runs.afterwards.abandoned_runs import LeftRuns
from stackrank.flows.runs.playing.liveness import Silence

EVERY_S = 15.0
LOOKS = 8
"""How many looks in a row must find a flow run's run over before the flow run is closed: this takes two minutes."""
TAKEN_S = {"process": 120.0}
"""Pool type -> how long a living worker takes, at most, to start a flow run that it has taken."""
LONGEST_TAKEN_S = 1800.0
"""The same for other pools, which may have to wait for a machine or an image first."""
_GOING = [StateType.RUNNING, StateType.CANCELLING]
_FLOWS = [evaluate.name, RESUMED_RUN.flow.name, SCHEDULED_RUN.flow.name, SHARD.flow.name]


class Supervisor:
    """Looks regularly for runs that nobody plays and for flow runs whose worker is dead."""

    def __init__(self, store: Store, pool: str) -> None:
        """`pool`: the work pool whose workers continue abandoned runs."""
        self._store = store
        self._pool = pool
        self._left = LeftRuns(store)
        self._taken = Silence()
        self._resumed: set[str] = set()
        self._over: dict[UUID, int] = {}
        """Flow runs whose run is over and played by nobody -> the number of looks in a row that found this."""

    def start(self) -> None:
        """Look every few seconds, in a thread, until this process ends."""
        threading.Thread(target=self._watch, name="supervisor", daemon=True).start()

    def _watch(self) -> None:
        pause = threading.Event()
        while not pause.wait(EVERY_S):
            try:
                self.look()
            except Exception as error:  # of any kind: the supervisor must survive it
                log.warning("what was left cannot be looked for at the moment", error=error)

    def look(self) -> None:
        """Close dead flow runs, and continue the runs that are abandoned by now."""
        silent = {run["id"]: f"silent since {run['heartbeat_at']}" for run in self._left.silent()}
        with get_client(sync_client=True) as client:
            # Comes first: while the old flow run of a schedule counts as running, the schedule starts no new one.
            self._close(client, silent)
            self._give_back(client)
            for run_id, why in silent.items():
                self._resume(client, run_id, why)
            for ended in self._left.ended_badly():
                self._resume(client, ended["id"], f"with errors at {ended['ended_at']}")

    def _resume(self, client: SyncPrefectClient, run_id: int, why: str) -> None:
        tag = run_tag(self._store.engine, run_id)
        if (key := f"{tag} {why}") in self._resumed:
            return
        deployment = RESUMED_RUN.deploy(client, name=self._pool, pool=self._pool, parameters={})
        # The same key gives the same flow run, however many supervisors ask for it.
        made = client.create_flow_run_from_deployment(
            deployment, parameters={"run_id": run_id}, tags=[tag], idempotency_key=key
        )
        self._resumed.add(key)
        log.warning("a run that was left goes on", run=run_id, why=why, pool=self._pool, flow_run=made.name)

    def _give_back(self, client: SyncPrefectClient) -> None:
        """Reschedule this pool's flow runs that a worker took and never started. Otherwise nobody would start them, and
        their slots would stay occupied."""
        pool = WorkPoolFilter(name=WorkPoolFilterName(any_=[self._pool]))
        names = FlowFilter(name=FlowFilterName(any_=_FLOWS))
        state = FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.PENDING]))
        found = client.read_flow_runs(
            flow_filter=names, flow_run_filter=FlowRunFilter(state=state), work_pool_filter=pool, limit=PAGE
        )
        if not found:
            return
        taken_s = TAKEN_S.get(client.read_work_pool(self._pool).type, LONGEST_TAKEN_S)
        left = self._taken.find({each.id: each.state_id for each in found}, taken_s)
        for each in found:
            if each.id in left:
                client.set_flow_run_state(each.id, Scheduled(message="its worker never started it"))
                log.warning("a flow run that was taken and not started is given back", flow_run=each.name)

    def _close(self, client: SyncPrefectClient, silent: Mapping[int, str]) -> None:
        """End, in Prefect, flow runs whose worker is dead: the run is silent, or is over and has no claims."""
        over: dict[UUID, int] = {}
        for each, run_id, key in going(client, self._store):
            if run_id in silent:
                if key.endswith(silent[run_id]):  # it was just started to continue the run
                    continue
            else:
                found = queries.run_state(self._store.engine, run_id)
                if not found or not found["over"] or self._store.claims(run_id):
                    continue
                # It may still be reporting the result.
                over[each.id] = self._over.get(each.id, 0) + 1
                if over[each.id] < LOOKS:
                    continue
            close(client, each)
        self._over = over


def close(client: SyncPrefectClient, dead: FlowRun) -> None:
    """End a flow run whose worker is dead, so that nothing waits for it."""
    client.set_flow_run_state(dead.id, Crashed(message="its worker is dead"), force=True)
    log.warning("a flow run of a dead worker was closed", flow_run=dead.name)


def going(client: SyncPrefectClient, store: Store) -> list[tuple[FlowRun, int, str]]:
    """Return the flow runs that are active according to Prefect, each with the run of this database that it plays, and
    the idempotency key of the flow run or of its caller."""
    found: list[FlowRun] = []
    names = FlowFilter(name=FlowFilterName(any_=_FLOWS))
    states = FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=_GOING)))
    while page := client.read_flow_runs(flow_filter=names, flow_run_filter=states, limit=PAGE, offset=len(found)):
        found += page
    runs: dict[UUID, tuple[int, str]] = {}
    for each in found:
        if (run_id := _run_of(store, each)) is not None:
            runs[each.id] = (run_id, each.idempotency_key or "")
    for each in found:
        if each.id not in runs and each.parent_task_run_id:  # called by a flow run whose run is known
            caller = client.read_task_run(each.parent_task_run_id).flow_run_id
            if caller in runs:
                runs[each.id] = runs[caller]
    return [(each, *runs[each.id]) for each in found if each.id in runs]


def _run_of(store: Store, each: FlowRun) -> int | None:
    run_id = (each.parameters or {}).get("run_id")
    if run_id is not None and run_tag(store.engine, int(run_id)) in each.tags:
        return int(run_id)
    return queries.run_of_flow(store.engine, str(each.id))
