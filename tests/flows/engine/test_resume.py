"""Runs that are cut off, and go on: nothing that is done is done again, nothing is lost, nothing counted twice."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy import update

from stackrank.db import queries
from stackrank.db.connection.engine import connect, default_url
from stackrank.db.connection.transactions import STEP
from stackrank.db.writes.acts import Acts
from stackrank.flows.runs.playing import claims
from tests.fixtures.playing import drive, make_run
from tests.fixtures.scripted import ANSWERS, ENTRANT, RESOLVED, UNRESOLVED, Script
from tests.support.openai_server import Fault, OpenAIServer, call
from tests.support.waiting import run_out, wait_for

ROOT = Path(__file__).parents[3]
ATTEMPTS = 2
EPISODES = 2 * ATTEMPTS
WORKERS = 2
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("database")]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with OpenAIServer(Script()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield server


def scripted_run(**fields: Any) -> int:
    spec = {
        "tasks": [RESOLVED, UNRESOLVED],
        "entrants": [ENTRANT],
        "attempts": ATTEMPTS,
        "workers": WORKERS,
        "steps": 10,
    }
    return make_run(**{"sandbox": "bubblewrap", **spec, **fields})


def in_a_process(run_id: int) -> subprocess.Popen[bytes]:
    code = f"from tests.fixtures.playing import drive; drive({run_id})"
    return subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)


def rows(run_id: int, **fields: Any) -> list[dict[str, Any]]:
    return queries.episodes(connect(), run_id, **fields)


def steps_of(run_id: int) -> list[list[str]]:
    """The tools of the steps so far, of each episode that is going on."""
    going = [row["id"] for row in rows(run_id, status="running")]
    return [[step["tool"] for step in queries.steps(connect(), episode)] for episode in going]


def assert_as_undisturbed(run_id: int, endpoint: OpenAIServer, extra: int = 0) -> None:
    """`extra`: episodes that were going on when the run was cut off, each of which may lose one answer."""
    episodes = rows(run_id)
    assert Counter(row["verdict"] for row in episodes) == {"resolved": ATTEMPTS, "unresolved": ATTEMPTS}
    assert len({(row["task_id"], row["entrant_id"], row["attempt"]) for row in episodes}) == EPISODES
    for row in episodes:
        trajectory = queries.steps(connect(), row["id"])
        assert [step["index"] for step in trajectory] == list(range(ANSWERS + 1))
        assert (row["steps"], row["tokens_in"], row["stop_reason"]) == (ANSWERS, 100 * ANSWERS, "submitted")
    assert EPISODES * ANSWERS <= endpoint.asked <= EPISODES * ANSWERS + extra


@pytest.mark.exhaustive
def test_undisturbed(endpoint: OpenAIServer) -> None:
    run_id = scripted_run()
    assert drive(run_id) == ""
    assert_as_undisturbed(run_id, endpoint)


POINTS: dict[str, Callable[[int], bool]] = {
    "start": lambda run_id: bool(steps_of(run_id)),
    "middle": lambda run_id: any(len(tools) >= 3 for tools in steps_of(run_id)),
    "scoring": lambda run_id: any(tools[-1:] == ["submit"] for tools in steps_of(run_id)),
}


@pytest.mark.parametrize("point", ["middle", "start", "scoring"])
def test_the_playing_process_is_killed(endpoint: OpenAIServer, point: str) -> None:
    run_id = scripted_run()
    process = in_a_process(run_id)
    wait_for(lambda: POINTS[point](run_id), f"an episode at its {point}")
    process.kill()
    process.wait()
    going = rows(run_id, status="running")
    assert going and all(claims.is_dead_worker(row["claimed_by"]) for row in going)
    ended_at = {row["id"]: row["ended_at"] for row in rows(run_id, status="done")}
    assert drive(run_id) == ""
    assert_as_undisturbed(run_id, endpoint, extra=len(going))
    episodes = {row["id"]: row for row in rows(run_id, counted=None)}
    errors = [row["error"] for row in episodes.values() if row["verdict"] == "error"]
    assert len(episodes) == EPISODES, f"continued, not begun anew: {errors}"
    assert all(episodes[episode]["ended_at"] == time for episode, time in ended_at.items()), "what is done stays"
    assert all(episodes[row["id"]]["interruptions"] == 1 for row in going)


@pytest.mark.exhaustive
def test_an_episode_that_cannot_be_repeated_starts_over(endpoint: OpenAIServer) -> None:
    run_id = scripted_run()
    process = in_a_process(run_id)
    wait_for(lambda: POINTS["middle"](run_id), "the middle")
    process.kill()
    process.wait()
    (spoiled, *_) = [
        row["id"] for row in rows(run_id, status="running") if len(queries.steps(connect(), row["id"])) >= 2
    ]
    with connect().begin() as connection:
        conditions = (STEP.c.episode_id == spoiled, STEP.c.index == 1)
        connection.execute(update(STEP).where(*conditions).values(observation="something else"))
    assert drive(run_id) == ""
    assert Counter(row["verdict"] for row in rows(run_id)) == {"resolved": ATTEMPTS, "unresolved": ATTEMPTS}
    (former,) = rows(run_id, counted=False)
    assert (former["id"], former["verdict"]) == (spoiled, "error")
    assert "at step 1 the observation of listdir differs from the record" in former["error"]
    (second_try,) = [row for row in rows(run_id) if row["try_number"] == 2]
    assert [step["index"] for step in queries.steps(connect(), second_try["id"])] == list(range(ANSWERS + 1))


@pytest.mark.exhaustive
def test_a_worker_that_lost_its_claim_changes_nothing(endpoint: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is stopped for longer than others wait for it, and then goes on as if nothing had been."""
    monkeypatch.setenv("STACKRANK_SILENT_S", str(run_out(0.5)))
    script, stopped, window = Script(), threading.Event(), run_out(5.0)

    def slow(request: dict[str, Any]) -> Any:
        answer_count = sum(message["role"] == "assistant" for message in request["messages"])
        return script(request).with_(delay_s=window if answer_count == 2 and not stopped.is_set() else 0.0)

    endpoint._script = slow
    run_id = scripted_run()
    process = in_a_process(run_id)
    with stopped_in_the_middle(run_id, process) as going:
        stopped.set()
        assert drive(run_id) == ""
    assert_as_undisturbed(run_id, endpoint, extra=len(going))


@contextlib.contextmanager
def stopped_in_the_middle(run_id: int, process: subprocess.Popen[bytes]) -> Iterator[set[int]]:
    """Stop a process in the middle of an episode. The body plays its episodes, which are yielded, to their end.

    Then the process goes on, and changes nothing.
    """
    try:
        wait_for(lambda: any(len(tools) == 3 for tools in steps_of(run_id)), "an episode in its middle")
        stop_between_writes(process.pid)
        going = {row["id"] for row in rows(run_id, status="running")}
        yield going
        episodes = rows(run_id, counted=None)
        os.kill(process.pid, signal.SIGCONT)
        assert process.wait(timeout=600) == 0
    finally:
        process.kill()
    assert going and all(row["interruptions"] == (row["id"] in going) for row in episodes)
    assert rows(run_id, counted=None) == episodes


def stop_between_writes(pid: int) -> None:
    """Stop a process, but not while it holds SQLite's lock for writing: nobody could write until it goes on."""
    with contextlib.closing(sqlite3.connect(default_url().removeprefix("sqlite:///"), timeout=0)) as connection:
        while True:
            os.kill(pid, signal.SIGSTOP)
            wait_for(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED, "the end of its last system call")
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                os.kill(pid, signal.SIGCONT)
            else:
                connection.rollback()
                return


def test_two_processes_share_a_run(endpoint: OpenAIServer) -> None:
    run_id = scripted_run()
    process = in_a_process(run_id)
    assert drive(run_id) == ""
    assert process.wait(timeout=600) == 0
    assert_as_undisturbed(run_id, endpoint)


@pytest.mark.parametrize("path", [".", "no\0path"])
def test_an_episode_whose_endpoint_failed_is_continued(
    endpoint: OpenAIServer, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Its answers so far are not paid for twice, and the try is the same; also where no database holds all it said."""
    monkeypatch.setattr("stackrank.flows.runs.playing.outages.FIRST_PAUSE_S", 0.1)
    script, failed = Script(), []

    def failing(request: dict[str, Any]) -> Any:
        answer_count = sum(message["role"] == "assistant" for message in request["messages"])
        if answer_count == 2 and len(failed) < 1:
            failed.append(request)
            return Fault.status(503)
        return script(request) if answer_count else call("listdir", path=path).with_(tokens_in=100)

    endpoint._script = failing
    entrant = {**ENTRANT, "config": {"retry_s": 0}}
    run_id = scripted_run(tasks=[RESOLVED], attempts=1, entrants=[entrant])
    drive(run_id)
    (row,) = rows(run_id, counted=None)
    assert (row["verdict"], row["interruptions"], row["error"]) == ("resolved", 1, "")
    assert endpoint.asked == ANSWERS + 1


def test_a_run_with_only_errors_ends(endpoint: OpenAIServer) -> None:
    endpoint._script = lambda request: Fault.status(400, "no such thing")
    run_id = scripted_run(attempts=10, retries=0)
    reason = drive(run_id)
    assert "ended in an error, more than 50%" in reason and "the latest error" in reason
    assert 5 <= len(rows(run_id, verdict="error")) <= 7
    assert len(rows(run_id, status="pending")) >= 13


def test_a_spent_budget_ends_a_run_and_a_larger_one_continues_it(endpoint: OpenAIServer) -> None:
    entrant = {**ENTRANT, "config": {"price": {"input": 10_000.0, "output": 0.0}}}  # $1 a question
    run_id = scripted_run(entrants=[entrant], workers=1, budget_usd=5.0)
    reason = drive(run_id)
    assert "the budget of $5.00 is spent ($8.00)" in reason
    assert Counter(row["status"] for row in rows(run_id)) == {"done": 2, "pending": 2}
    Acts(connect()).tune(run_id, {"budget_usd": 100.0}, person="ada")
    assert drive(run_id) == ""
    assert_as_undisturbed(run_id, endpoint)
