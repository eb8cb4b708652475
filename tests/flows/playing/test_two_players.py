"""Two processes know one run: who is late does not undo what the other was asked to do, nor take what it plays."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import psutil
import pytest
from sqlalchemy import update

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.transactions import RUN
from stackrank.db.writes.store import Store
from stackrank.flows.runs.playing.abandoned_runs import fail_unless_played
from stackrank.flows.runs.playing.session import Session
from stackrank.flows.runs.preparing.stored_run import load_run
from stackrank.host.wall_clock import now
from stackrank.terms import RunStatus
from tests.fixtures.playing import make_run
from tests.flows.engine.test_resume import assert_as_undisturbed, endpoint, in_a_process, rows, scripted_run, steps_of
from tests.postgres import Cluster, cluster
from tests.support.openai_server import OpenAIServer
from tests.support.waiting import run_out, wait_for

__all__ = ["endpoint"]
RANDOM: dict[str, Any] = {"limit": 1, "entrants": [{"agent": "random"}], "sandbox": "bubblewrap"}


@pytest.fixture
def late(database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """The session of a process that is slow to end; its run goes on."""
    monkeypatch.setenv("STACKRANK_SILENT_S", "0.5")
    run_id = make_run(**RANDOM)
    Store(connect()).start_run(run_id)
    session = Session(load_run(run_id, print))
    session.claims.start_heartbeat()
    yield session
    session.close()


def status(run_id: int) -> str:
    return str(queries.run(connect(), run_id)["status"])


def resumed(run_id: int) -> None:
    """As `stackrank resume` does."""
    store = Store(connect())
    assert store.reopen_run(queries.run(store.engine, run_id))
    assert store.start_run(run_id)


@pytest.mark.parametrize("outcome", [RunStatus.CANCELLED, RunStatus.FAILED])
def test_a_process_that_noticed_a_cancel_does_not_end_the_resumed_run(late: Session, outcome: RunStatus) -> None:
    store = Store(connect())
    assert store.cancel_run(late.run_id, "cancelled by ada")
    wait_for(late.is_over, "the heart hears of it")
    resumed(late.run_id)
    assert not late.end_run(outcome, "1 episode has no verdict")
    assert status(late.run_id) == "running"


def test_an_interrupted_run_is_cancelled_at_once_and_only_once(late: Session) -> None:
    late.interrupt("interrupted")
    assert late.is_over() and status(late.run_id) == "cancelled"
    resumed(late.run_id)
    assert not late.end_run(RunStatus.CANCELLED, "0 resolved")
    assert status(late.run_id) == "running"


def test_a_run_that_is_being_resumed_continues_where_the_cancel_was_not_noticed(late: Session) -> None:
    store = Store(connect())
    late.claims.close()  # no beat comes in between
    store.cancel_run(late.run_id, "cancelled by ada")
    assert store.reopen_run(queries.run(store.engine, late.run_id))
    late._on_heartbeat(store.heartbeat(late.run_id), False)
    assert late.is_open()


@pytest.mark.parametrize("clock_s", [-3600.0, 0.0, 3600.0])
def test_a_process_that_cannot_start_a_run_leaves_it_to_its_player(late: Session, clock_s: float) -> None:
    """Whatever its clock says of the last sign of life."""
    store = Store(connect())
    set_heartbeat(late.run_id, now() + timedelta(seconds=clock_s))
    fail_unless_played(store, late.run_id, "the key was refused")
    assert status(late.run_id) == "running"
    late.claims.close()
    wait_for(lambda: not late.claims._thread or not late.claims._thread.is_alive(), "no beat comes any more")
    set_heartbeat(late.run_id, now() + timedelta(seconds=clock_s))
    fail_unless_played(store, late.run_id, "the key was refused")
    assert status(late.run_id) == "failed"


def set_heartbeat(run_id: int, at: datetime) -> None:
    with connect().execution_options(write=True).begin() as connection:
        connection.execute(update(RUN).where(RUN.c.id == run_id).values(heartbeat_at=at))


@pytest.fixture
def postgres(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    with cluster() as running:
        monkeypatch.setenv("STACKRANK_DATABASE_URL", running.create())
        yield running


def stopped(server: Cluster) -> list[psutil.Process]:
    """All processes of a server, which stand still: the one that starts others first, and without those that ended
    meanwhile."""
    control = psutil.Process(int((server.folder / "data" / "postmaster.pid").read_text().splitlines()[0]))
    control.send_signal(signal.SIGSTOP)
    processes = [control]
    for child in control.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            child.send_signal(signal.SIGSTOP)
            processes.append(child)
    return processes


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_stopped_database_makes_no_worker_count_as_dead(
    postgres: Cluster, endpoint: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers nobody for longer than silence takes: then none of those who play is taken for dead."""
    silent_s = min(run_out(4.0), 20.0)  # twice that is less than a run waits for its database
    monkeypatch.setenv("STACKRANK_SILENT_S", str(silent_s))
    endpoint._script.delay_s = 1.0  # type: ignore[union-attr]
    run_id = scripted_run(workers=4)  # those who have a place left watch the others
    players = [in_a_process(run_id) for _ in range(2)]
    wait_for(lambda: any(len(tools) >= 2 for tools in steps_of(run_id)), "the middle")
    standing = stopped(postgres)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            players[0].wait(timeout=2 * silent_s)
    finally:
        for process in standing:
            with suppress(psutil.NoSuchProcess):  # it had ended before, and its parent could not collect it
                process.send_signal(signal.SIGCONT)
    assert [player.wait(timeout=600) for player in players] == [0, 0]
    assert_as_undisturbed(run_id, endpoint)
    assert sum(row["interruptions"] for row in rows(run_id)) == 0
