"""Why a run is slow, who fails in it, and what to do."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from stackrank.agents.episode.step import Step
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.transactions import ENTRANT, EPISODE, RUN, STEP
from stackrank.db.writes.store import Store
from stackrank.env.actions import Observation
from stackrank.flows.runs.afterwards import explanation
from stackrank.flows.runs.afterwards.explanation import PARTS, REMEDIES, explain_run
from stackrank.flows.runs.playing.trajectories import to_row
from stackrank.flows.services import doctor
from stackrank.home import home, process_mark
from stackrank.host.wall_clock import now
from tests.fixtures.calls import CommandLine
from tests.fixtures.playing import make_run

pytestmark = pytest.mark.slow  # by its time

TASKS = 4


@pytest.fixture
def run(stackrank: CommandLine) -> int:
    """A run of two entrants that goes on."""
    entrants = [{"agent": "random", "name": "quick"}, {"agent": "random", "name": "slow", "tools": "rewrite"}]
    run_id = make_run(limit=TASKS, entrants=entrants, sandbox="bubblewrap")
    Store(connect()).start_run(run_id)
    return run_id


def change(table: Any, row: int, **values: Any) -> None:
    with connect().connect().execution_options(write=True) as connection, connection.begin():
        connection.execute(update(table).where(table.c.id == row).values(**values))


def play(run: int, **spent: float) -> None:
    """Every episode but the last gets its verdict after 10 s, of the second entrant after 40 s; `spent` in seconds."""
    store = Store(connect())
    for row in queries.episodes(store.engine, run)[:-1]:
        usage = {"m": {"waited_ms": 1000 * spent.get("waited_s", 0.0)}}
        times = {"model_ms": spent.get("model_s", 0.0), "env_ms": spent.get("sandbox_s", 0.0)}
        times = {name: 1000 * seconds for name, seconds in times.items()} | {"score_ms": 1000 * spent.get("tests_s", 0)}
        store.finish_episode(row["id"], verdict="resolved", stop_reason="submitted", usage=usage, **times)
        began = now() - timedelta(minutes=2)
        took = timedelta(seconds=40 if row["entrant"] == "slow" else 10)
        change(EPISODE, row["id"], created_at=began - timedelta(seconds=5), started_at=began, ended_at=began + took)
    change(RUN, run, started_at=now() - timedelta(minutes=3))


@pytest.mark.parametrize("part", PARTS)
def test_where_the_time_goes_and_what_to_do(run: int, stackrank: CommandLine, part: str) -> None:
    play(run, **({} if part == "rest_s" else {part: 9.0}))
    document = stackrank("why", str(run), "--json").json()
    assert sum(document["shares"].values()) == pytest.approx(1.0)
    assert document["shares"][part] == (1.0 if part == "rest_s" else pytest.approx(9 / 24, abs=0.2))
    text = stackrank("why", str(run)).out
    assert PARTS[part] in text and f"{2 * TASKS - 1} of {2 * TASKS} episodes" in text
    assert "slow (40 s) is the slowest entrant, quick (10 s) the fastest" in text
    for row in queries.time_spent(connect(), run):
        assert sum(row[name] for name in PARTS) == pytest.approx(row["total_s"])  # type: ignore[literal-required]
        assert row["queued_s"] >= 5


def test_the_largest_part_has_a_remedy(run: int) -> None:
    play(run)
    assert REMEDIES["rest_s"] in explain_run(connect(), run)["why"] and REMEDIES.keys() == PARTS.keys()


def test_the_explanation_of_a_run_without_verdicts(run: int) -> None:
    text = explain_run(connect(), run)["why"]
    assert "it is unknown where the time goes" in text and "No episode ended in an error" in text


def test_the_explanation_names_an_error(run: int) -> None:
    store = Store(connect())
    first, *_ = queries.episodes(store.engine, run)
    store.fail_episode(first["id"], stop_reason="error", error="the sandbox: no engine.")
    store.end_run(run, "finished")
    text = explain_run(connect(), run)["why"]
    assert "1 ended in an error (1 by machine), for instance: the sandbox: no engine." in text
    assert f"retry the errors with `stackrank resume {run}`" in text


def test_paused_and_stalled_runs(run: int) -> None:
    store = Store(connect())
    store.open_outage(run, "http://127.0.0.1:9/v1", [1], "refused")
    paused = explain_run(store.engine, run)["why"]
    assert "It is paused: endpoint http://127.0.0.1:9/v1 has not answered since" in paused
    checks = {row["check"]: row for row in doctor._database()}
    assert checks["stalled runs"]["ok"] and not checks["endpoints of runs"]["ok"]
    change(RUN, run, heartbeat_at=now() - timedelta(minutes=10))
    stalled_run = explain_run(store.engine, run)
    assert (
        stalled_run["stalled"]
        and "Nobody has played it for 10 min" in stalled_run["why"]
        and "resume" in stalled_run["why"]
    )
    stalled = {row["check"]: row for row in doctor._database()}["stalled runs"]
    assert not stalled["ok"] and f"no worker plays {run} (" in stalled["detail"]


def test_a_proxy_and_a_full_disk_are_suspected(run: int, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(connect())
    monkeypatch.setenv("https_proxy", "http://ann:secret@proxy.example:3128")
    assert "proxy" not in explain_run(store.engine, run)["why"]
    store.open_outage(run, "http://model.example/v1", [1], "refused")
    text = explain_run(store.engine, run)["why"]
    assert "check whether the proxy http://ann:***@proxy.example:3128 lets requests to the models through" in text
    monkeypatch.setattr(explanation, "is_full", lambda folder: True)
    assert f"free some space on the disk with {home()}" in explain_run(store.engine, run)["why"]


ENDED = ":".join([*process_mark().split(":")[:4], "never"]) + "#1"
"""A worker of this machine that has ended."""


def explain_waiting(run: int) -> str:
    """Explain a run, with waits in tens of seconds: on a busy machine a second passes before they are read."""
    return re.sub(r"( min \d)\d s", r"\g<1>0 s", explain_run(connect(), run)["why"])


@pytest.mark.parametrize(
    ("worker", "steps", "waits_s", "expected", "advice"),
    [
        ("me", 0, 5, "4 episodes are being played", ""),
        ("me", 0, 90, "Episode 1 (quick) has waited 1 min 30 s for its sandbox.", "takes long to prepare sandboxes"),
        ("me", 3, 90, "(quick) has waited 1 min 30 s for step 3.", "look for a slow tool on the page of episode 1"),
        ("ended", 3, 5, "The process that played it has ended. ", "`stackrank resume 1`"),
        ("ended", 3, 5, "4 episodes had begun, 4 are waiting", "`stackrank resume 1`"),
    ],
)
def test_what_episodes_in_progress_wait_for(
    run: int, worker: str, steps: int, waits_s: float, expected: str, advice: str
) -> None:
    play(run)
    hold(run, ENDED if worker == "ended" else worker, steps, waits_s)
    text = explain_waiting(run)
    assert expected in text and advice in text
    assert ("being played" in text) == (worker == "me")


def test_an_unanswered_question_is_no_slow_tool(run: int) -> None:
    play(run, sandbox_s=9.0)
    hold(run, "me", 2, 300)
    with connect().connect().execution_options(write=True) as connection, connection.begin():
        connection.execute(update(ENTRANT).values(model="gpt-x"))
    text = explain_waiting(run)
    assert "has waited 5 min 00 s for step 2: for an answer of gpt-x, or for its tool." in text
    assert "What to do: check whether the endpoint of gpt-x answers: 4 episodes have waited" in text
    assert "slow tools" not in text


def test_what_is_said_of_a_run_whose_process_was_killed(run: int, stackrank: CommandLine) -> None:
    hold(run, ENDED, 0, 1)
    store = Store(connect())
    store.fail_episode(queries.episodes(store.engine, run)[-1]["id"], stop_reason="error", error="gone")
    errored = queries.episodes(store.engine, run, verdict="error")[0]["id"]
    assert f"`stackrank resume {run}` plays it" in stackrank("retry", str(errored)).out
    assert doctor._absent_server() == (True, "not running; the first run starts it, `stackrank down` ends it")


def test_a_prefect_server_that_a_run_has_lost(run: int) -> None:
    hold(run, "me", 0, 1)
    is_right, detail = doctor._absent_server()
    assert not is_right and f"run {run} is being played" in detail


def hold(run: int, worker: str, steps: int, waits_s: float) -> None:
    """Four episodes are claimed, have taken these steps, and wait."""
    store, since = Store(connect()), now() - timedelta(seconds=waits_s)
    for row in queries.episodes(store.engine, run)[:4]:
        values = {"verdict": "", "status": "running", "claimed_by": worker, "started_at": since, "ended_at": None}
        change(EPISODE, row["id"], **values)
        for index in range(steps):
            step = Step(index=index, action=None, observation=Observation("fine"))
            store.add_step(to_row(row["id"], step), by=worker)
    for row in queries.episodes(store.engine, run)[4:]:
        change(EPISODE, row["id"], verdict="", status="pending", ended_at=None)
    with connect().connect().execution_options(write=True) as connection, connection.begin():
        connection.execute(update(STEP).values(created_at=since))
