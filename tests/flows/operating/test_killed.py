"""Runs that an operator has paused or retuned are killed: acts survive, and verdicts are as if nothing had been."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.queries.acts import acts, directions
from stackrank.db.writes.acts import Acts
from stackrank.flows.runs.playing import claims
from tests.fixtures.playing import drive
from tests.fixtures.scripted import Script
from tests.flows.engine.test_kill_matrix import postgres
from tests.flows.engine.test_resume import (
    POINTS,
    WORKERS,
    assert_as_undisturbed,
    endpoint,
    in_a_process,
    rows,
    scripted_run,
    steps_of,
)
from tests.postgres import Cluster
from tests.support.openai_server import Entry, OpenAIServer
from tests.support.waiting import wait_for

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]

__all__ = ["endpoint", "postgres"]


def pause(run_id: int) -> None:
    assert Acts(connect()).pause(run_id, person="ada", why="the provider throttles")


def retune(run_id: int) -> None:
    assert Acts(connect()).tune(run_id, {"workers": 1}, person="ada", why="the provider throttles")


ACTS: dict[str, Callable[[int], None]] = {"paused": pause, "retuned": retune}


def assert_recorded(run_id: int, act: str) -> None:
    """The act is there, once, and what it decided holds."""
    (row,) = acts(connect(), run_id)
    assert (row["person"], row["why"]) == ("ada", "the provider throttles")
    now = directions(connect(), run_id)
    assert now["paused"] if act == "paused" else now["spec"]["workers"] == 1


@contextmanager
def driven(run_id: int) -> Iterator[list[str]]:
    """Play what is left of a run beside the body, and wait for its end. The list gets why it ended early."""
    reason: list[str] = []
    playing = threading.Thread(target=lambda: reason.append(drive(run_id)), daemon=True)
    playing.start()
    yield reason
    playing.join(timeout=600)
    assert not playing.is_alive()


def release(run_id: int, act: str) -> None:
    """Let a paused run go on. Until then, episodes only end."""
    if act == "paused":
        assert Acts(connect()).unpause(run_id, person="bob")


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.usefixtures("database")
def test_the_playing_process_is_killed(endpoint: OpenAIServer, point: str, act: str) -> None:
    run_id = scripted_run()
    process = in_a_process(run_id)
    wait_for(lambda: POINTS[point](run_id), f"an episode at its {point}")
    ACTS[act](run_id)
    process.kill()
    process.wait()
    assert_recorded(run_id, act)
    going = rows(run_id, status="running")
    assert all(claims.is_dead_worker(row["claimed_by"]) for row in going)
    played = endpoint.asked
    with driven(run_id) as reason:
        if act == "paused":
            wait_for(lambda: queries.run(connect(), run_id)["status"] == "running", "the run to be taken up")
            assert endpoint.asked == played, "nobody plays a paused run, also not what its dead process left"
        release(run_id, act)
    assert reason == [""]
    assert_as_undisturbed(run_id, endpoint, extra=len(going))
    assert len(rows(run_id, counted=None)) == len(rows(run_id)), "continued, not begun anew"


class HeldScript(Script):
    """The scripted model, which keeps its third answers back until `released` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.released = threading.Event()

    def __call__(self, request: dict[str, Any]) -> Entry:
        if sum(message["role"] == "assistant" for message in request["messages"]) >= 2:
            assert self.released.wait(600)
        return super().__call__(request)


@pytest.mark.parametrize("act", ACTS)
def test_postgresql_is_killed_and_comes_back(postgres: Cluster, monkeypatch: pytest.MonkeyPatch, act: str) -> None:
    """A pause that nobody can read at the moment is still a pause."""
    run_id, script = scripted_run(), HeldScript()
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with OpenAIServer(script) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        with driven(run_id) as reason:
            wait_for(lambda: len(steps_of(run_id)) == WORKERS and POINTS["middle"](run_id), "an episode at its middle")
            ACTS[act](run_id)
            postgres.kill()
            script.released.set()
            postgres.start()
            if act == "paused":
                wait_for(lambda: not rows(run_id, status="running"), "the end of the episodes in progress")
                assert len(rows(run_id, status="done")) == WORKERS
            assert_recorded(run_id, act)
            release(run_id, act)
        assert reason == [""]
        assert_as_undisturbed(run_id, endpoint)
    assert sum(row["interruptions"] for row in rows(run_id)) == 0
