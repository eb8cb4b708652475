"""What is played next, without playing anything."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.acts import Acts
from stackrank.db.writes.claims import ClaimedEpisode
from stackrank.db.writes.store import Store
from stackrank.flows.runs.playing import driver
from stackrank.flows.runs.playing.driver import Driver, OnEnd
from stackrank.flows.runs.playing.error_policy import EpisodeFailed
from stackrank.flows.runs.playing.progress import follow_progress
from stackrank.flows.runs.playing.session import Session, join_run, leave_run
from stackrank.flows.runs.specification.spec import SpecError
from tests.fixtures.calls import CommandLine
from tests.fixtures.playing import make_run

pytestmark = pytest.mark.slow  # by its time

EPISODES = 4


@pytest.fixture
def session(database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """The session of a run that goes on."""
    monkeypatch.setattr(driver, "BACKOFF_S", 0.1)
    run_id = make_run(limit=EPISODES, entrants=[{"agent": "random"}], workers=1, sandbox="bubblewrap", retries=1)
    session = join_run(run_id)
    session.store.start_run(run_id)
    yield session
    leave_run(run_id)


def fails_once(session: Session, on_submit: Callable[[], None]) -> Callable[[ClaimedEpisode, OnEnd], None]:
    """Every episode fails at its first try."""
    tries: Counter[int] = Counter()

    def submit(claim: ClaimedEpisode, on_end: OnEnd) -> None:
        on_submit()
        tries[claim["task_id"]] += 1
        if tries[claim["task_id"]] == 1:
            session.store.fail_episode(claim["id"], stop_reason="error", error="lost", by=session.claims.token)
            on_end(EpisodeFailed("lost", retried=True))
        else:
            session.store.finish_episode(
                claim["id"], verdict="resolved", stop_reason="submitted", by=session.claims.token
            )
            on_end(None)

    return submit


def test_a_shard_retries_its_failed_episodes(session: Session) -> None:
    """Who leads the run asks whether something is open, and never sees it over before its time."""
    unplayed = []

    def look() -> None:
        counts = queries.progress(session.store.engine, session.run_id)
        unplayed.append(counts["pending"] + counts["running"])

    submit = fails_once(session, look)
    assert [Driver(session, submit, limit=2).run() for _ in range(EPISODES // 2)] == ["", ""]
    counts = queries.progress(session.store.engine, session.run_id)
    assert (counts["resolved"], counts["errors"], counts["retried"]) == (EPISODES, 0, EPISODES)
    assert unplayed == [4, 4, 4, 3, 2, 2, 2, 1]


def test_waiting_retries_are_released_when_the_run_ends_early(session: Session) -> None:
    def submit(claim: ClaimedEpisode, on_end: OnEnd) -> None:
        session.store.fail_episode(claim["id"], stop_reason="error", error="lost", by=session.claims.token)
        on_end(EpisodeFailed("lost", retried=True))
        session.drain()

    assert Driver(session, submit).run() == ""
    counts = queries.progress(session.store.engine, session.run_id)
    assert (counts["pending"], counts["running"], counts["errors"]) == (EPISODES, 0, 0)
    assert not session.store.claims(session.run_id)


def test_a_run_that_cannot_be_played_says_why(session: Session) -> None:
    from stackrank.flows.engine.evaluate import evaluate

    run_id = make_run(limit=1, entrants=[{"agent": "random"}], sandbox="bubblewrap")
    end_event = threading.Event()

    def play_elsewhere() -> None:
        while not end_event.wait(0.1):
            session.store.heartbeat(session.run_id)

    heartbeats = threading.Thread(target=play_elsewhere)
    heartbeats.start()
    for unplayable in (run_id, session.run_id):
        Acts(session.store.engine).tune(unplayable, {"benchmark": "gone"}, person="ada")
        leave_run(unplayable)
        with pytest.raises(SpecError):
            evaluate.fn(unplayable, "label")
    end_event.set()
    heartbeats.join()
    run = queries.run(session.store.engine, run_id)
    assert run["status"] == "failed" and "'gone'" in run["reason"]
    assert queries.run(session.store.engine, session.run_id)["status"] == "running", "somebody else plays it"


def test_a_run_whose_creation_was_interrupted_is_not_played(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stackrank.db.writes.store._PART", 2)
    real = Store._write

    def cut_off(self: Store, work: Callable[..., Any], **options: Any) -> Any:
        if isinstance(work, partial):  # a later part
            raise KeyboardInterrupt
        return real(self, work, **options)

    monkeypatch.setattr(Store, "_write", cut_off)
    with pytest.raises(KeyboardInterrupt):
        make_run(limit=EPISODES, entrants=[{"agent": "random"}], sandbox="bubblewrap")
    monkeypatch.setattr(Store, "_write", real)
    (run,) = queries.runs(connect())
    with pytest.raises(SpecError, match=r"it has 2 of its 4 episodes\): start a new run"):
        join_run(run["id"])


def test_an_abandoned_episode_is_logged(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on when its claim is found void, which takes a while: nobody shall wonder why."""
    messages: list[str] = []
    monkeypatch.setattr(driver.log, "warning", lambda message, **fields: messages.append(str(fields["error"])))

    def submit(claim: ClaimedEpisode, on_end: OnEnd) -> None:
        session.drain()
        on_end(OSError("no room on the device"))

    Driver(session, submit).run()
    assert messages == ["no room on the device"]


def test_progress_without_a_database_is_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    is_queried, counts = threading.Event(), list[object]()
    query = queries.progress

    def spy(engine: Engine, run_id: int) -> dict[str, Any]:
        try:
            return query(engine, run_id)
        finally:
            is_queried.set()

    monkeypatch.setattr(queries, "progress", spy)
    engine = connect(f"sqlite:///{tmp_path / 'empty.db'}", migrate=False)  # it has no tables
    with follow_progress(engine, 1, 0.01, counts.append):
        assert is_queried.wait(600)
    assert not counts and capsys.readouterr().err == ""


def test_a_cancel_while_a_resume_starts_wins(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(connect())
    run = make_run(limit=1, entrants=[{"agent": "random"}], sandbox="bubblewrap")
    store.cancel_run(run, "by ada")

    def prepared(run_id: int, say: object = None) -> None:
        assert stackrank("cancel", str(run)).status == 0

    monkeypatch.setattr("stackrank.flows.runs.playing.session.join_run", prepared)
    monkeypatch.setattr("stackrank.flows.services.prefect_server.ensure_server", lambda say: "")
    resumed = stackrank("resume", str(run))
    assert resumed.status == 2 and f"run {run} has changed in the meantime and is cancelled" in resumed.err
    assert queries.run(store.engine, run)["status"] == "cancelled"
