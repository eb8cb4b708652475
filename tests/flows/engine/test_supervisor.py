"""What was left is taken up again: runs that fell silent, runs that ended with errors, flow runs of dead workers."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import update

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.transactions import RUN
from stackrank.db.writes.acts import Acts
from stackrank.db.writes.store import Store
from stackrank.flows.runs.playing import abandoned_runs
from stackrank.flows.runs.playing import liveness as silence
from stackrank.flows.runs.playing.abandoned_runs import AbandonedRuns
from stackrank.home import process_mark
from stackrank.host.wall_clock import now
from stackrank.settings import settings
from tests.fixtures.playing import make_run

RANDOM = {"limit": 1, "entrants": [{"agent": "random"}], "sandbox": "bubblewrap"}


@pytest.fixture
def store(database: str) -> Store:
    return Store(connect())


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock by which silence is measured; a test sets it."""
    time = [1000.0]
    monkeypatch.setattr(silence.time, "monotonic", lambda: time[0])
    return time


def set_run(store: Store, run: int, **values: Any) -> None:
    with store.engine.connect().execution_options(write=True) as connection, connection.begin():
        connection.execute(update(RUN).where(RUN.c.id == run).values(**values))


def test_silence_is_measured_by_the_own_clock(store: Store, clock: list[float]) -> None:
    living, dead = make_run(**RANDOM), make_run(**RANDOM)
    by_hand = make_run(limit=1, entrants=[{"agent": "random"}], sandbox="bubblewrap")
    for run in (living, dead, by_hand):
        store.start_run(run)
    Acts(store.engine).tune(by_hand, {"entrants": [{"agent": "human"}]}, person="ada")
    for run in (living, dead, by_hand):
        set_run(store, run, heartbeat_at=now().replace(year=2001))  # a clock that was set
    abandoned = AbandonedRuns(store)
    assert abandoned.silent() == []
    clock[0] += 29.0
    assert abandoned.silent() == []
    clock[0] += 30.0
    assert abandoned.silent() == []
    store.heartbeat(living)
    clock[0] += 2.0
    assert [run["id"] for run in abandoned.silent()] == [dead], "nobody goes on with what a person played"
    store.heartbeat(dead)
    assert abandoned.silent() == []


def test_time_without_a_look_does_not_count_as_silence(store: Store, clock: list[float]) -> None:
    """As while the database is away, which keeps the living from giving a sign of life."""
    run = make_run(**RANDOM)
    store.start_run(run)
    abandoned = AbandonedRuns(store)
    assert abandoned.silent() == []
    clock[0] += 3600.0
    assert abandoned.silent() == []
    clock[0] += 15.0
    assert abandoned.silent() == []
    clock[0] += 15.0
    assert [silent_run["id"] for silent_run in abandoned.silent()] == [run]


def test_a_scheduled_run_that_never_started_is_abandoned(store: Store, clock: list[float]) -> None:
    scheduled, by_command = make_run(**RANDOM), make_run(**RANDOM)
    set_run(store, scheduled, schedule="nightly", prefect_flow_run_id="of a flow run that failed")
    abandoned = AbandonedRuns(store)
    assert abandoned.silent() == []
    clock[0] += 30.0
    assert abandoned.silent() == []
    clock[0] += 30.0
    assert [run["id"] for run in abandoned.silent()] == [scheduled], "who gave the command sees that it failed"
    assert store.claims(by_command) == []
    store.start_run(scheduled)
    assert abandoned.silent() == []


def test_a_run_whose_process_has_ended_is_abandoned_after_a_few_beats(store: Store, clock: list[float]) -> None:
    deserted, elsewhere = make_run(**RANDOM), make_run(**RANDOM)
    mark = process_mark().split(":")
    ended = [*mark[:4], "never"]
    for run, place in ((deserted, ended), (elsewhere, ["other-host", *ended[1:]])):
        store.start_run(run)
        assert store.claim_next(run, ":".join(place) + "#1")
    abandoned = AbandonedRuns(store)
    assert abandoned.silent() == []
    for _ in range(2):
        clock[0] += abandoned_runs.MISSED_BEATS * settings().beat_s
        silent_runs = abandoned.silent()
    assert [run["id"] for run in silent_runs] == [deserted]


def failed(store: Store, run: int, error_class: str) -> None:
    claim = store.claim_next(run, "w")
    assert claim is not None
    store.start_run(run)
    store.fail_episode(claim["id"], stop_reason="error", error="gone", error_class=error_class)  # type: ignore[arg-type]
    assert store.end_run(run, "finished")


@pytest.mark.parametrize(("error_class", "times"), [("machine", 3), ("endpoint", 3), ("environment", 0), ("ours", 0)])
def test_a_run_with_errors_is_resumed_a_few_times(
    store: Store, monkeypatch: pytest.MonkeyPatch, error_class: str, times: int
) -> None:
    monkeypatch.setattr(abandoned_runs, "PAUSES_S", (0.0, 0.0, 0.0))
    run = make_run(**RANDOM)
    failed(store, run, error_class)
    assert AbandonedRuns(store).take_failed() == [], "whoever played it by hand decides himself"
    set_run(store, run, schedule="nightly")
    run_ids = [[failed_run["id"] for failed_run in AbandonedRuns(store).take_failed()] for _ in range(5)]
    assert run_ids == [[run]] * times + [[]] * (5 - times)


def test_a_run_with_errors_waits_for_its_pause_and_is_resumed_once(store: Store) -> None:
    run, cancelled, fine = (make_run(**RANDOM) for _ in range(3))
    failed(store, run, "machine")
    store.cancel_run(cancelled, "by ada")
    claim = store.claim_next(fine, "w")
    assert claim is not None
    store.finish_episode(claim["id"], verdict="resolved", stop_reason="submitted")
    store.start_run(fine)
    store.end_run(fine, "finished")
    for run_id in (run, cancelled, fine):
        set_run(store, run_id, schedule="nightly")
    assert AbandonedRuns(store).take_failed() == []
    for run_id in (run, cancelled, fine):
        set_run(store, run_id, ended_at=now() - timedelta(seconds=abandoned_runs.PAUSES_S[0] + 1))
    with ThreadPoolExecutor(4) as pool:
        taken_runs = list(pool.map(lambda _: AbandonedRuns(store).take_failed(), range(4)))
    assert [row["id"] for rows in taken_runs for row in rows] == [run]


@contextmanager
def flow_run_of(run: int, store: Store, schedule: str) -> Iterator[tuple[Any, UUID]]:
    """A flow run of a schedule that goes on, as far as Prefect knows, and plays this run."""
    from prefect.client.orchestration import get_client
    from prefect.states import Running

    from stackrank.flows.engine.deployed_runs import SCHEDULED_RUN

    with get_client(sync_client=True) as client:
        spec = {"benchmark": "bugs", "entrants": [{"agent": "random"}]}
        deployment = SCHEDULED_RUN.deploy(client, name=schedule, pool=schedule, parameters={"spec": spec})
        flow_run = client.create_flow_run_from_deployment(deployment)
        client.set_flow_run_state(flow_run.id, Running(), force=True)
        set_run(store, run, prefect_flow_run_id=str(flow_run.id))
        try:
            yield client, flow_run.id
        finally:
            client.delete_deployment(deployment)


def states(client: Any, *ids: UUID) -> list[str]:
    return [client.read_flow_run(flow_run_id).state_name for flow_run_id in ids]


def test_a_silent_run_is_resumed_once_and_its_former_flow_run_closed(
    prefect_server: str, store: Store, clock: list[float]
) -> None:
    from prefect.states import Running

    from stackrank.flows.engine.deployed_runs import RESUMED_RUN
    from stackrank.flows.engine.supervisor import Supervisor

    run, another = make_run(**RANDOM), make_run(**RANDOM)
    store.start_run(run)
    store.start_run(another)
    with flow_run_of(run, store, "silent") as (client, dead), flow_run_of(another, store, "living") as (_, alive):

        def resumed() -> list[Any]:
            flow_runs = client.read_flow_runs(limit=200, sort="START_TIME_DESC")
            return [
                flow_run for flow_run in flow_runs if flow_run.parameters.get("run_id") == run and mark in flow_run.tags
            ]

        from stackrank.flows.engine.deployments import run_tag

        mark = run_tag(store.engine, run)
        two = [Supervisor(store, "supervised") for _ in range(2)]
        for supervisor in two:
            supervisor.resume_abandoned()
        assert not resumed() and states(client, dead, alive) == ["Running", "Running"]
        for _ in range(2):
            clock[0] += 30.0
            store.heartbeat(another)
            for supervisor in two:
                supervisor.resume_abandoned()
        (flow_run,) = resumed()
        assert flow_run.parameters == {"run_id": run} and flow_run.work_pool_name == "supervised"
        assert states(client, dead, alive) == ["Crashed", "Running"]
        # It was started, and has not given a sign of life yet.
        client.set_flow_run_state(flow_run.id, Running(), force=True)
        for supervisor in two:
            supervisor.resume_abandoned()
        assert len(resumed()) == 1 and states(client, flow_run.id) == ["Running"]
        # It died after it had ended the run.
        store.heartbeat(run)
        store.end_run(run, "failed", "spent")
        for _ in range(8):
            assert states(client, flow_run.id) == ["Running"]
            two[0].resume_abandoned()
        assert states(client, flow_run.id, alive) == ["Crashed", "Running"]
        for supervisor in RESUMED_RUN.list_deployments(client):
            client.delete_deployment(supervisor.id)


@pytest.mark.parametrize(("holder", "state"), [("ended", "Crashed"), ("elsewhere", "Running")])
def test_who_continues_a_run_closes_the_flow_run_of_a_dead_process(
    prefect_server: str, store: Store, holder: str, state: str
) -> None:
    from prefect import task
    from prefect.states import Running

    from stackrank.flows.engine.dead_flow_runs import close_former

    run = make_run(**RANDOM)
    with flow_run_of(run, store, f"former-{holder}") as (client, former):
        store.start_run(run, prefect_flow_run_id=str(former))
        host, *place = process_mark().split(":")[:4]
        assert store.claim_next(run, ":".join([host if holder == "ended" else "other-host", *place, "never"]))
        episode = client.create_task_run(task(states), flow_run_id=former, dynamic_key="0", state=Running())
        close_former(store.engine, queries.run(store.engine, run))
        assert states(client, former) == [state]
        assert client.read_task_run(episode.id).state_name == state


def test_a_schedule_is_unblocked(prefect_server: str, store: Store) -> None:
    from stackrank.flows.engine import schedules

    run = make_run(**RANDOM)
    store.start_run(run)
    with flow_run_of(run, store, "blocked") as (client, dead):
        first = schedules.unblock("blocked", store, force=False)
        assert first["alive"] and not first["closed"] and states(client, dead) == ["Running"]
        set_run(store, run, heartbeat_at=now() - timedelta(minutes=5))
        limit = client.read_deployment(client.read_flow_run(dead).deployment_id).global_concurrency_limit
        client.increment_concurrency_slots(names=[limit.name], slots=1, mode="concurrency")
        assert schedules.unblock("blocked", store, force=False)["closed"] and states(client, dead) == ["Crashed"]
        assert client.read_global_concurrency_limit_by_name(limit.name).active_slots == 0
        assert queries.run(store.engine, run)["status"] == "running", "somebody goes on with it"


def test_a_flow_run_that_a_dead_worker_took_is_rescheduled(
    prefect_server: str, store: Store, clock: list[float]
) -> None:
    """A worker that is killed in that very moment keeps no slot, and its run is played by another."""
    from prefect.states import Pending

    from stackrank.flows.engine.supervisor import Supervisor

    with flow_run_of(make_run(**RANDOM), store, "taken") as (client, alive):
        client.set_flow_run_state(alive, Pending(), force=True)  # it is not started again meanwhile
        deployment = client.read_flow_run(alive).deployment_id
        flow_run_id = client.create_flow_run_from_deployment(deployment).id
        client.delete_flow_run(alive)
        client.set_flow_run_state(flow_run_id, Pending())
        limit = client.read_deployment(deployment).global_concurrency_limit.name

        def slots() -> int:
            return int(client.read_global_concurrency_limit_by_name(limit).active_slots)

        supervisor = Supervisor(store, "taken")
        for _ in range(3):
            supervisor.resume_abandoned()
            assert (states(client, flow_run_id), slots()) == (["Pending"], 1)
            clock[0] += 55.0
        supervisor.resume_abandoned()
        assert (states(client, flow_run_id), slots()) == (["Scheduled"], 0)


def test_a_paused_schedule_starts_nothing_that_waited(prefect_server: str, store: Store) -> None:
    from prefect.states import Pending

    from stackrank.flows.engine import schedules

    with flow_run_of(make_run(**RANDOM), store, "queued") as (client, first):
        deployment = client.read_flow_run(first).deployment_id
        client.delete_flow_run(first)
        every = schedules.parse_timing(None, 3600.0, "UTC")
        schedules.SCHEDULED_RUN.deploy(
            client, name="queued", pool="queued", parameters=client.read_deployment(deployment).parameters,
            schedules=every, on_overlap="queue",
        )  # fmt: skip
        client._client.post(f"/deployments/{deployment}/schedule", json={"min_runs": 3}).raise_for_status()
        by_hand = client.create_flow_run_from_deployment(deployment)
        waiting_ids = [
            flow_run.id for flow_run in schedules._list_waiting(client, client.read_deployment(deployment), 200)
        ]
        going, waiting = [flow_run_id for flow_run_id in waiting_ids if flow_run_id != by_hand.id][:2]
        for flow_run_id in (going, waiting, by_hand.id):
            client.set_flow_run_state(flow_run_id, Pending())
        assert states(client, going, waiting, by_hand.id) == ["Pending", *["AwaitingConcurrencySlot"] * 2]
        schedules.set_paused("queued", True)
        assert states(client, going, waiting, by_hand.id) == ["Pending", "Cancelled", "AwaitingConcurrencySlot"]
