"""What is played next, without playing anything."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from db import queries
from db.engine import connect
from flows import driver, progress
from flows.driver import Claim, Done, Driver
from flows.errors import EpisodeFailed
from flows.spec import SpecError
from flows.stage import Stage, leave, stage_of
from tests.flows.playing import make_run

EPISODES = 4


@pytest.fixture
def stage(database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """The stage of a run that goes on."""
    monkeypatch.setattr(driver, "BACKOFF_S", 0.1)
    run_id = make_run(limit=EPISODES, entrants=[{"agent": "random"}], workers=1, sandbox="bubblewrap", retries=1)
    stage = stage_of(run_id)
    stage.store.start_run(run_id)
    yield stage
    leave(run_id)


def fails_once(stage: Stage, seen: Callable[[], None]) -> Callable[[Claim, Done], None]:
    """Every episode fails at its first try."""
    tries: Counter[int] = Counter()

    def submit(claim: Claim, done: Done) -> None:
        seen()
        tries[claim["task_id"]] += 1
        if tries[claim["task_id"]] == 1:
            stage.store.fail_episode(claim["id"], stop_reason="error", error="lost", by=stage.token)
            done(EpisodeFailed("lost", retried=True))
        else:
            stage.store.finish_episode(claim["id"], verdict="resolved", stop_reason="submitted", by=stage.token)
            done(None)

    return submit


def test_a_shard_tries_again_what_failed_in_it(stage: Stage) -> None:
    """Who leads the run asks whether something is open, and never sees it over before its time."""
    left = []

    def look() -> None:
        counts = queries.progress(stage.store.engine, stage.run_id)
        left.append(counts["pending"] + counts["running"])

    submit = fails_once(stage, look)
    assert [Driver(stage, submit, limit=2).run() for _ in range(EPISODES // 2)] == ["", ""]
    counts = queries.progress(stage.store.engine, stage.run_id)
    assert (counts["resolved"], counts["errors"], counts["retried"]) == (EPISODES, 0, EPISODES)
    assert left == [4, 4, 4, 3, 2, 2, 2, 1]


def test_what_waits_when_the_run_ends_early_is_given_back(stage: Stage) -> None:
    def submit(claim: Claim, done: Done) -> None:
        stage.store.fail_episode(claim["id"], stop_reason="error", error="lost", by=stage.token)
        done(EpisodeFailed("lost", retried=True))
        stage.draining.set()

    assert Driver(stage, submit).run() == ""
    counts = queries.progress(stage.store.engine, stage.run_id)
    assert (counts["pending"], counts["running"], counts["errors"]) == (EPISODES, 0, 0)
    assert not stage.store.claims(stage.run_id)


def test_a_run_that_cannot_be_played_says_why(stage: Stage) -> None:
    from flows.evaluate import evaluate  # imports Prefect

    stage.store.change_spec(stage.run_id, {"benchmark": "gone"})
    leave(stage.run_id)
    with pytest.raises(SpecError):
        evaluate.fn(stage.run_id, "label")
    run = queries.run(stage.store.engine, stage.run_id)
    assert run["status"] == "failed" and "'gone'" in run["reason"]


def test_an_episode_that_nobody_could_play_is_told(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on when its claim is found void, which takes a while: nobody shall wonder why."""
    told: list[str] = []
    monkeypatch.setattr(driver.log, "warning", lambda message, **fields: told.append(str(fields["error"])))

    def submit(claim: Claim, done: Done) -> None:
        stage.draining.set()
        done(OSError("no room on the device"))

    Driver(stage, submit).run()
    assert told == ["no room on the device"]


def test_progress_without_a_database_is_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_PERIOD_S", 0.01)
    monkeypatch.setattr(progress, "_LINE_EVERY_S", 0.0)
    asked = threading.Event()
    read = progress._read
    monkeypatch.setattr(progress, "_read", lambda *about: (read(*about), asked.set())[0])
    engine = connect(f"sqlite:///{tmp_path / 'empty.db'}", migrate=False)  # it has no tables
    with progress.shown(engine, 1, 10):
        assert asked.wait(30)
    assert capsys.readouterr().err == ""
