"""Runs that an operator has paused or retuned are killed: acts survive, and verdicts are as if nothing had been."""

from __future__ import annotations

import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.acts import Acts
from stackrank.db.writes.store import Store
from stackrank.flows.runs.playing import claims
from tests.fixtures.acts import ACTS, assert_kept, assert_recorded, release
from tests.fixtures.playing import drive
from tests.fixtures.scripted import ANSWERS, ENTRANT, Script
from tests.flows.engine.test_kill_matrix import postgres
from tests.flows.engine.test_resume import (
    ATTEMPTS,
    POINTS,
    WORKERS,
    assert_as_undisturbed,
    endpoint,
    in_a_process,
    rows,
    scripted_run,
    steps_of,
    stopped_in_the_middle,
)
from tests.postgres import Cluster
from tests.support.openai_server import Entry, Fault, OpenAIServer, says
from tests.support.waiting import run_out, wait_for

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]

__all__ = ["endpoint", "postgres"]


FAULTS: dict[str, Entry] = {
    "down": Fault.status(503),
    "busy": Fault.status(429, retry_after=0),
    "hangs": says("too late").with_(delay_s=86_400),
}


@contextmanager
def driven(run_id: int) -> Iterator[list[str]]:
    """Play what is left of a run beside the body, and wait for its end. The list gets why it ended early."""
    reason: list[str] = []
    playing = threading.Thread(target=lambda: reason.append(drive(run_id)), daemon=True)
    playing.start()
    yield reason
    playing.join(timeout=600)
    assert not playing.is_alive()


def acted_upon(act: str, point: str = "middle") -> tuple[int, subprocess.Popen[bytes]]:
    """Return a run on which an operator has acted at this point of an episode, and the process that plays it."""
    run_id = scripted_run()
    process = in_a_process(run_id)
    wait_for(lambda: POINTS[point](run_id), f"an episode at its {point}")
    ACTS[act](run_id)
    return run_id, process


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.usefixtures("database")
def test_the_playing_process_is_killed(endpoint: OpenAIServer, point: str, act: str) -> None:
    run_id, process = acted_upon(act, point)
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


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.usefixtures("database")
def test_a_process_stands_still_until_others_play_its_episodes(monkeypatch: pytest.MonkeyPatch, act: str) -> None:
    """It goes on when the run is over for others, and finds that nothing is left to it."""
    monkeypatch.setenv("STACKRANK_SILENT_S", str(run_out(0.5)))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    run_id, script = scripted_run(), HeldScript()
    with OpenAIServer(script) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        with stopped_in_the_middle(run_id, in_a_process(run_id)) as going:
            script.released.set()
            ACTS[act](run_id)
            with driven(run_id) as reason:
                release(run_id, act)
            assert reason == [""]
        assert_as_undisturbed(run_id, endpoint, extra=len(going))
    assert_kept(run_id, act)


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.usefixtures("database")
def test_two_take_up_what_a_third_has_left(endpoint: OpenAIServer, act: str) -> None:
    run_id, first = acted_upon(act)
    first.kill()
    first.wait()
    going = rows(run_id, status="running")
    others = [in_a_process(run_id) for _ in range(2)]
    release(run_id, act)
    assert [other.wait(timeout=600) for other in others] == [0, 0]
    assert_as_undisturbed(run_id, endpoint, extra=len(going))
    assert len(rows(run_id, counted=None)) == len(rows(run_id)), "continued, not begun anew"
    assert_kept(run_id, act)


@pytest.mark.parametrize("act", ACTS)
def test_everything_loses_its_power(postgres: Cluster, endpoint: OpenAIServer, act: str) -> None:
    """The process that plays and the database, right after the act."""
    run_id, process = acted_upon(act)
    process.kill()
    postgres.kill()
    process.wait()
    postgres.start()
    assert_recorded(run_id, act)
    going = rows(run_id, status="running")
    with driven(run_id) as reason:
        release(run_id, act)
    assert reason == [""]
    assert_as_undisturbed(run_id, endpoint, extra=len(going))


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.usefixtures("database")
def test_a_cancel_ends_the_run_whatever_was_decided_before(endpoint: OpenAIServer, act: str) -> None:
    """And who resumes it plays the rest."""
    run_id, store = scripted_run(), Store(connect())
    with driven(run_id):
        wait_for(lambda: POINTS["middle"](run_id), "an episode at its middle")
        ACTS[act](run_id)
        assert store.cancel_run(run_id, "cancelled by ada")
    assert queries.run(connect(), run_id)["status"] == "cancelled"
    assert_recorded(run_id, act)
    cut = rows(run_id, stop_reason="cancelled")
    release(run_id, act)
    with driven(run_id) as reason:
        pass
    assert reason == [""]
    assert_as_undisturbed(run_id, endpoint, extra=len(cut))


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.usefixtures("database")
def test_the_endpoint_fails_and_comes_back(monkeypatch: pytest.MonkeyPatch, fault: str, act: str) -> None:
    """Its episodes wait for it and for the operator, and none of that is theirs."""
    monkeypatch.setattr("stackrank.flows.runs.playing.outages.FIRST_PAUSE_S", 0.1)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    script, down = Script(), threading.Event()

    def answer(request: dict[str, Any]) -> Entry:
        return FAULTS[fault] if down.is_set() else script(request)

    entrant = {**ENTRANT, "config": {"retry_s": 0, "request_timeout_s": run_out(1.0)}}
    with OpenAIServer(answer) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        run_id = scripted_run(entrants=[entrant])
        with driven(run_id) as reason:
            wait_for(lambda: POINTS["middle"](run_id), "an episode at its middle")
            down.set()
            wait_for(lambda: queries.outages(connect(), run_id), "the outage")
            ACTS[act](run_id)
            if act == "paused":
                wait_for(lambda: not rows(run_id, status="running"), "the end of the questions")
            down.clear()
            release(run_id, act)
        assert reason == [""]
        episodes = rows(run_id, counted=None)
    assert Counter(row["verdict"] for row in episodes) == {"resolved": ATTEMPTS, "unresolved": ATTEMPTS}
    assert {(row["steps"], row["stop_reason"]) for row in episodes} == {(ANSWERS, "submitted")}
    assert_kept(run_id, act)


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.usefixtures("database")
def test_a_spent_budget_ends_the_run_whatever_was_decided_before(endpoint: OpenAIServer, act: str) -> None:
    entrant = {**ENTRANT, "config": {"price": {"input": 10_000.0, "output": 0.0}}}  # $1 a question
    run_id = scripted_run(entrants=[entrant], budget_usd=5.0)
    with driven(run_id) as reason:
        wait_for(lambda: POINTS["middle"](run_id), "an episode at its middle")
        ACTS[act](run_id)
    assert "the budget of $5.00 is spent ($8.00)" in reason[0]
    Acts(connect()).tune(run_id, {"budget_usd": 100.0}, person="ada")
    release(run_id, act)
    with driven(run_id) as reason:
        pass
    assert reason == [""]
    assert_as_undisturbed(run_id, endpoint)
