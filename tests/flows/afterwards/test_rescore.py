"""Scoring a run again: the same changes, another scorer or other tests, and both verdicts kept."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.env.benchmarks.bug_suite import BugSuite
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Changes
from stackrank.env.scoring.by_fault.parts import with_faults
from stackrank.env.scoring.digest import scorer_digest
from stackrank.env.scoring.judge import Score
from stackrank.env.scoring.record import DamagedChange, pack, unpack
from stackrank.env.task import Task
from stackrank.flows.runs.afterwards import rescore as rescoring
from tests.fixtures.calls import CommandLine
from tests.fixtures.playing import make_run, play_run

TASK = "club-ledger"
NOTHING = Changes()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a finished run of two entrants, of which one knows the fix."""
    file = tmp_path_factory.mktemp("recorded") / "stackrank.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STACKRANK_DATABASE_URL", f"sqlite:///{file}")
        entrants = [{"agent": "oracle"}, {"agent": "random"}]
        run = play_run(entrants=entrants, tasks=[TASK], steps=2, seed=3, workers=2)
        Store(connect()).end_run(run, "finished")
        with connect().connect() as connection:
            connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    return file


@pytest.fixture
def run(recorded: Path, database: str) -> int:
    """The run of a copy of it, in the database that commands use."""
    shutil.copy(recorded, database.removeprefix("sqlite:///"))
    return 1


def with_hidden_tests(monkeypatch: pytest.MonkeyPatch, added: Mapping[str, bytes], **changed: Any) -> None:
    """From now on the benchmark's tasks have these hidden files too."""
    tasks = BugSuite.tasks

    def harder(self: BugSuite) -> list[Task]:
        return [
            replace(task, hidden_files={**task.hidden_files, **added}, **changed) if task.id == TASK else task
            for task in tasks(self)
        ]

    monkeypatch.setattr(BugSuite, "tasks", harder)


def another_scorer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescoring, "scorer_digest", lambda: "another")
    monkeypatch.setattr("stackrank.flows.runs.playing.episode.scorer_digest", lambda: "another")


@pytest.mark.slow
def test_the_same_scorer_gives_the_same_verdicts_once(stackrank: CommandLine, database: str, run: int) -> None:
    engine = connect(database)
    first = queries.verdicts(engine, 1)
    assert [verdict["of_record"] for verdict in first] == [True]
    assert first[0]["scorer"] == scorer_digest() and first[0]["resolved"] and first[0]["tests"]
    result = stackrank("rescore", str(run), "--json")
    assert result.status == 0, result.err
    document = result.json()
    assert (document["rescored"], document["done_before"], document["changed"]) == (2, 0, [])
    assert [(verdict["resolved_before"], verdict["resolved_after"]) for verdict in document["entrants"]] == [
        (1, 1),
        (0, 0),
    ]
    assert stackrank("rescore", str(run), "--json").json()["done_before"] == 2
    verdicts = queries.verdicts(engine, 1)
    assert [verdict["of_record"] for verdict in verdicts] == [True, False]
    assert verdicts[0] == first[0], "the first verdict is never changed"


@pytest.mark.slow
def test_an_interrupted_rescoring_keeps_its_verdicts(
    database: str, run: int, monkeypatch: pytest.MonkeyPatch, stackrank: CommandLine
) -> None:
    """Ctrl-C during the first verdict: it is stored, the second is not begun, and the next call goes on from there."""
    judged: list[int] = []
    waits, raised = threading.Event(), threading.Event()
    judge = DebugEnv.judge

    def interrupted(self: DebugEnv, changes: Changes) -> Score:
        judged.append(1)
        if len(judged) == 1:
            assert waits.wait(60)  # Python's own pool would forget a thread if it were interrupted while it starts it
            while not raised.wait(0.1):  # a signal just before the main thread begins to wait does not wake it
                os.kill(os.getpid(), signal.SIGINT)
        return judge(self, changes)

    def in_their_order(futures: Iterable[Future[None]]) -> Iterator[Future[None]]:
        waits.set()
        yield from as_completed(futures)

    def interrupt(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raised.set()
        raise KeyboardInterrupt

    monkeypatch.setattr(DebugEnv, "judge", interrupted)
    monkeypatch.setattr(rescoring, "as_completed", in_their_order)
    engine = connect(database)
    handler = signal.signal(signal.SIGINT, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            rescoring.rescore(Store(engine), run, workers=1, say=lambda _: None)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert len(judged) == len(queries.rescored_verdicts(engine, run, scorer_digest())) == 1
    result = stackrank("rescore", str(run), "--json")
    assert result.status == 0, result.err
    assert (result.json()["done_before"], result.json()["rescored"], len(judged)) == (1, 2, 2)


@pytest.mark.slow
def test_a_new_scorer_changes_a_verdict_but_no_board(
    stackrank: CommandLine, database: str, run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = connect(database)
    board = queries.leaderboard(engine)
    stackrank("rescore", str(run))
    another_scorer(monkeypatch)
    hidden = {"tests/test_hidden_ledger.py": b"def test_is_within():\n    assert 1 == 2\n"}
    with_hidden_tests(monkeypatch, hidden, proof="")
    document = stackrank("rescore", str(run), "--json").json()
    assert document["scorer"] == "another" and document["done_before"] == 0
    (changed,) = document["changed"]
    assert (changed["episode"], changed["before"], changed["after"]) == (1, "resolved", "unresolved")
    assert "test_is_within: passed before, failed now" in changed["why"] and "the task, the scorer" in changed["why"]
    output = stackrank("rescore", str(run)).out
    assert "unresolved" in output and "test_is_within" in output
    assert queries.leaderboard(engine) == board
    assert queries.episode(engine, 1)["verdict"] == "resolved"
    assert [verdict["scorer"] for verdict in queries.verdicts(engine, 1)] == [
        scorer_digest(),
        scorer_digest(),
        "another",
    ]


@pytest.mark.slow
def test_a_share_changes_although_the_verdict_does_not(
    stackrank: CommandLine, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of three faults are mended in an unresolved episode; then the test of one of these becomes stricter."""
    hidden = "tests/test_hidden_ledger.py"
    names = {"bank": "test_balances_of_all_names", "signs": "test_names_with_other_signs", "open": "test_is_within"}
    (task,) = (task for task in BugSuite().tasks() if task.id == TASK)
    tests = task.hidden_files[hidden]

    def with_failing(*functions: str) -> dict[str, bytes]:
        changed = tests
        for function in functions:
            changed = changed.replace(f"def {function}():".encode(), f"def {function}():\n    assert 1 == 2".encode())
        return {hidden: changed}

    shared = with_faults(task, {name: [f"{hidden}::{test}"] for name, test in names.items()}).parts
    with_hidden_tests(monkeypatch, with_failing(names["open"]), parts=shared, proof="")
    run = play_run(entrants=[{"agent": "oracle"}], tasks=[TASK], workers=1)
    Store(connect()).end_run(run, "finished")
    assert (queries.episode(connect(), 1)["mended"], queries.episode(connect(), 1)["faults_total"]) == (2, 3)
    assert stackrank("rescore", str(run), "--json").json()["changed"] == []
    stricter = with_failing(names["open"], names["signs"])
    with_hidden_tests(monkeypatch, stricter, parts=shared, proof="")
    document = stackrank("rescore", str(run), "--json").json()
    (changed,) = document["changed"]
    assert (changed["before"], changed["after"]) == ("unresolved", "unresolved")
    assert (changed["share_before"], changed["share_after"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert changed["why"].startswith("signs: mended before, open now; ")
    (entrant,) = document["entrants"]
    assert (entrant["resolved_before"], entrant["resolved_after"]) == (0, 0)
    assert (entrant["share_before"], entrant["share_after"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    output = stackrank("rescore", str(run)).out
    assert "66.7%" in output and "33.3%" in output and "signs: mended before" in output


@pytest.mark.slow
def test_episodes_that_cannot_be_rescored_are_reported(
    stackrank: CommandLine, database: str, run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = connect(database)

    def impossible() -> list[str]:
        result = stackrank("rescore", str(run), "--json")
        assert result.status == 0
        return [row["why"] for row in result.json()["impossible"]]

    with engine.begin() as connection:
        connection.execute(text("UPDATE change SET content = substr(content, 1, 20)"))
    assert len(impossible()) == 2 and all("cannot be read" in reason for reason in impossible())
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM change"))
    assert all("gone from the database" in reason for reason in impossible())
    with_hidden_tests(monkeypatch, {}, files={"ledger.py": b""})
    assert len(impossible()) >= 1


def test_a_run_in_progress_is_refused(stackrank: CommandLine) -> None:
    run = make_run(entrants=[{"agent": "oracle"}], tasks=[TASK])
    result = stackrank("rescore", str(run))
    assert result.status == 2
    assert f"run {run}" in result.sentence() and f"stackrank cancel {run}" in result.sentence()


def test_a_change_of_any_bytes_survives_packing() -> None:
    change = Changes({"a/b.py": b"\xff\x00\r\n", "é": b""}, ("gone", "z"), ("link",))
    packed = pack(change)
    assert packed is not None and unpack(*packed) == change
    assert pack(Changes(dict(reversed(change.files.items())), ("z", "gone"), ("link",))) == packed
    assert pack(NOTHING) != packed
    with pytest.raises(DamagedChange, match="not what was stored"):
        unpack("0" * 64, packed[1])
    for cut in range(0, len(packed[1]), 7):
        with pytest.raises(DamagedChange):
            unpack(packed[0], packed[1][:cut])
