"""Two processes know one run: who is late does not undo what the other was asked to do, nor take what it plays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from stackrank.db import queries
from stackrank.db.engine import connect
from stackrank.db.store import Store
from stackrank.flows.runs import session as sessions
from stackrank.flows.runs.session import Session
from stackrank.terms import RunStatus
from tests.flows.playing import make_run
from tests.support.waiting import wait_for

RANDOM: dict[str, Any] = {"limit": 1, "entrants": [{"agent": "random"}], "sandbox": "bubblewrap"}


@pytest.fixture
def late(database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """The session of a process that is slow to end; its run goes on."""
    monkeypatch.setenv("STACKRANK_SILENT_S", "0.5")
    run_id = make_run(**RANDOM)
    Store(connect()).start_run(run_id)
    made = sessions._reopened(run_id, print)
    made.claims.start_heart()
    yield made
    made.close()


def status(run_id: int) -> str:
    return str(queries.run(connect(), run_id)["status"])


def resumed(run_id: int) -> None:
    """As `stackrank resume` does."""
    store = Store(connect())
    assert store.reopen_run(queries.run(store.engine, run_id))
    assert store.start_run(run_id)


@pytest.mark.parametrize("how", [RunStatus.CANCELLED, RunStatus.FAILED])
def test_who_heard_of_a_cancel_does_not_end_the_run_that_was_resumed_since(late: Session, how: RunStatus) -> None:
    store = Store(connect())
    assert store.cancel_run(late.run_id, "cancelled by ada")
    wait_for(late.is_over, "the heart hears of it")
    resumed(late.run_id)
    assert not late.end_run(how, "1 episode has no verdict")
    assert status(late.run_id) == "running"


def test_an_interrupted_run_is_cancelled_at_once_and_only_once(late: Session) -> None:
    late.interrupt("interrupted")
    assert late.is_over() and status(late.run_id) == "cancelled"
    resumed(late.run_id)
    assert not late.end_run(RunStatus.CANCELLED, "0 resolved")
    assert status(late.run_id) == "running"


def test_a_run_that_is_about_to_be_resumed_goes_on_where_nobody_heard_of_the_cancel(late: Session) -> None:
    store = Store(connect())
    late.claims.give_up()  # no beat comes in between
    store.cancel_run(late.run_id, "cancelled by ada")
    assert store.reopen_run(queries.run(store.engine, late.run_id))
    late._hear(store.heartbeat(late.run_id), False)
    assert late.is_open()
