"""Whole runs: a real Prefect server, real sandboxes, a real database."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.env.sandbox.base import SandboxError, SandboxSpec
from stackrank.env.sandbox.bubblewrap.backend import BubblewrapBackend
from tests.fixtures.calls import CommandLine
from tests.support.waiting import wait_for

ROOT = Path(__file__).parents[3]
SMALL = ("--benchmark", "bugs", "--sandbox", "bubblewrap", "--workers", "2")

pytestmark = pytest.mark.usefixtures("prefect_server")


def test_a_run_from_end_to_end(stackrank: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(
        "name: small\nbenchmark: bugs\nlimit: 2\nsandbox: bubblewrap\nsteps: 4\ntags: [nightly]\nentrants:\n"
        "  - {agent: oracle, tools: rewrite}\n  - {agent: repair, tools: debug}\n"
    )
    result = stackrank("run", str(file), "--json")
    document = result.json()
    assert result.status == 0
    assert (document["name"], document["status"], document["episodes"]) == ("small", "finished", 4)
    oracle = next(row for row in document["entrants"] if row["agent"] == "oracle")
    assert (oracle["rate"], oracle["episodes"], oracle["errors"]) == (1.0, 2, 0)
    assert oracle["ci_low"] < 1.0 == oracle["ci_high"]

    rows = stackrank("episodes", "latest", "--json").json()
    assert len(rows) == 4
    for row in rows:
        assert row["verdict"] in ("resolved", "unresolved")
        assert row["stop_reason"]
        assert row["steps"] >= 1
        assert row["wall_s"] > 0 and row["machine_load"] > 0
        assert bool(row["failure_point"]) == (row["verdict"] == "unresolved")
    resolved = next(row for row in rows if row["entrant"] == "oracle (rewrite)")
    trace = stackrank("trace", str(resolved["id"]), "--json").json()
    assert [step["index"] for step in trace["steps"]] == list(range(len(trace["steps"])))
    assert trace["steps"][0]["tool"] == ""
    assert trace["steps"][1]["tool"] == "rewrite"
    assert trace["steps"][1]["arguments"]["path"]
    assert trace["steps"][-1]["state"]["solved"] is True
    assert all(step["env_ms"] > 0 and step["observation"] for step in trace["steps"])
    assert trace["diff"].startswith("diff --git")
    assert "reproduced" not in trace["milestones"], "the oracle has no need to see a test fail"
    assert "edited" in trace["steps"][1]["milestones"] and trace["steps"][1]["distance"] == "line"
    assert trace["milestones"] == {name: step["index"] for step in trace["steps"] for name in step["milestones"]}

    output = stackrank("leaderboard").out
    assert "oracle (rewrite)" in output and "bugs " in output and "(finished" in output
    board = stackrank("leaderboard", "--json").json()
    assert [(row["entrant"], row["rank_low"]) for row in board["entrants"]] == [("repair (debug)", 1)]
    assert [(row["entrant"], row["rate"], row["rank_low"]) for row in board["reference"]] == [
        ("oracle (rewrite)", 1.0, None)
    ]
    assert board["scope"]["conditions"]["steps"] == 4 and "unknown" not in board["scope"]["conditions"].values()
    assert document["scope"]["sentence"] == board["scope"]["sentence"]
    assert stackrank("compare", "repair (debug)", "repair (debug)").status == 2
    assert "small" in stackrank("runs").out
    assert resolved["task"] in stackrank("episodes", "small", "--entrant", "oracle (rewrite)").out
    assert "rewrite(path=" in stackrank("trace", str(resolved["id"])).out
    compared = stackrank("compare", "repair (debug)", "oracle (rewrite)").out
    assert compared.startswith("No clear difference: "), "two tasks cannot show one"


@pytest.mark.exhaustive
def test_an_episode_is_a_task_run_if_the_run_says_so(stackrank: CommandLine, tmp_path: Path) -> None:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId

    def task_runs(run: int) -> int:
        flow_run = UUID(queries.run(connect(), run)["prefect_flow_run_id"])
        with get_client(sync_client=True) as client:
            return len(client.read_task_runs(flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[flow_run]))))

    run_ids = []
    for granularity in ("shards", "episodes"):
        file = tmp_path / f"{granularity}.yaml"
        file.write_text(
            "benchmark: bugs\nlimit: 1\nattempts: 2\nsandbox: bubblewrap\nworkers: 2\nentrants: [{agent: oracle}]\n"
            f"prefect_tasks: {granularity}\n"
        )
        document = stackrank("run", str(file), "--json").json()
        assert (document["status"], document["resolved"]) == ("finished", 2)
        run_ids.append(document["run"])
    # The server hears of task runs in the order in which they were, and a little later.
    wait_for(lambda: task_runs(run_ids[1]) == 2, "both task runs")
    assert task_runs(run_ids[0]) == 0


def test_the_printed_plan(stackrank: CommandLine) -> None:
    result = stackrank("run", *SMALL, "--agent", "oracle", "--limit", "1")
    assert result.status == 0
    for words in ("oracle (debug)", "100.0%", "Failure points", "No episode is unresolved", "stackrank dashboard"):
        assert words in result.out
    assert "1 task x 1 entrant x" in result.err


@pytest.mark.exhaustive
def test_a_program_plays_without_a_key(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    options = ("--benchmark", "bugs", "--limit", "1", "--agent", "command", "--model", "scripted", "--json")
    document = stackrank("run", *options, "--sandbox", "bubblewrap").json()
    (entrant,) = document["entrants"]
    assert (entrant["agent"], entrant["tools"], document["errors"], document["unresolved"]) == (
        "command",
        "command",
        0,
        1,
    )
    assert entrant["tokens_in"] > 0
    assert "same: all" in stackrank("replay", "1").out


class Flaky(BubblewrapBackend):
    """A backend whose first sandboxes fail."""

    def __init__(self, failures: int) -> None:
        super().__init__()
        self.failures = failures

    def start(self, spec: SandboxSpec) -> Any:
        """Fail, a number of times."""
        if self.failures:
            self.failures -= 1
            raise SandboxError("the engine hiccuped")
        return super().start(spec)


def _use(monkeypatch: pytest.MonkeyPatch, backend: BubblewrapBackend) -> None:
    monkeypatch.setattr("stackrank.env.sandbox.registry.backend", lambda name: backend)


@pytest.mark.exhaustive
def test_a_failing_sandbox_is_retried(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch, database: str) -> None:
    _use(monkeypatch, Flaky(1))
    result = stackrank("run", *SMALL, "--agent", "oracle", "--limit", "1", "--json")
    assert result.status == 0
    assert (result.json()["resolved"], result.json()["errors"]) == (1, 0), result.out
    tries = queries.episodes(connect(database), "latest", counted=None)
    assert [(row["verdict"], row["try_number"], row["counted"]) for row in tries] == [
        ("error", 1, False),
        ("resolved", 2, True),
    ]
    first, second = (queries.episode(connect(database), row["id"]) for row in tries)
    assert "hiccuped" in first["error"]
    waited = datetime.fromisoformat(second["started_at"]) - datetime.fromisoformat(first["ended_at"])
    assert waited.total_seconds() > 1.5, "there was time to recover"


def test_a_broken_sandbox_is_an_error_not_a_failure(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    _use(monkeypatch, Flaky(10**6))
    spec = {"retries": 0, "limit": 2, "entrants": [{"agent": "oracle"}], "sandbox": "bubblewrap"}
    file = Path(os.environ["STACKRANK_DATABASE_URL"].removeprefix("sqlite:///")).with_name("spec.yaml")
    file.write_text(json.dumps(spec))
    result = stackrank("run", str(file))
    assert result.status == 1
    assert "2 episodes ended in an infrastructure error" in result.out
    assert "hiccuped" in result.out
    (entrant,) = stackrank("leaderboard", "--json").json()["reference"]
    assert (entrant["rate"], entrant["errors"], entrant["unresolved"]) == (None, 2, 0)


def test_a_bug_of_stackrank_is_an_error_and_not_retried(
    stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch, database: str
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("stackrank.flows.runs.playing.episode.play", broken)
    assert stackrank("run", *SMALL, "--agent", "oracle", "--limit", "1").status == 1
    (row,) = queries.episodes(connect(database), "latest", counted=None)
    assert row["verdict"] == "error"
    assert "stackrank itself: ZeroDivisionError: oops" in queries.episode(connect(database), row["id"])["error"]


def _start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "stackrank.flows.cli.main", *arguments],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def _wait_for_steps(database: str, count: int, process: subprocess.Popen[str]) -> None:
    def got_going() -> bool:
        assert process.poll() is None, process.communicate()
        return sum(bool(row["verdict"]) for row in queries.episodes(connect(database))) >= count

    wait_for(got_going, "the run gets going", every_s=0.1)


def _sandboxes_of(pid: int) -> list[psutil.Process]:
    sandboxes = []
    for process in psutil.process_iter():
        try:
            if f":{pid}:" in process.environ().get("STACKRANK_SANDBOX_OWNER", ""):
                sandboxes.append(process)
        except psutil.Error:
            continue
    return sandboxes


@pytest.mark.exhaustive
def test_killed_in_the_middle(stackrank: CommandLine, database: str) -> None:
    process = _start("run", *SMALL, "--agent", "oracle", "--limit", "20", "--name", "killed")
    _wait_for_steps(database, 2, process)
    process.kill()
    process.communicate()
    episodes = stackrank("episodes", "killed", "--json").json()
    scored = [row for row in episodes if row["verdict"]]
    assert 2 <= len(scored) < 20
    assert all(row["verdict"] == "resolved" for row in scored)
    for row in scored:
        assert len(stackrank("trace", str(row["id"]), "--json").json()["steps"]) == row["steps"] + 1
    stackrank("gc")
    wait_for(lambda: not _sandboxes_of(process.pid), "no sandbox is left")
    assert stackrank("run", *SMALL, "--agent", "oracle", "--limit", "1").status == 0


@pytest.mark.exhaustive
def test_interrupted_by_the_keyboard(stackrank: CommandLine, database: str) -> None:
    process = _start("run", *SMALL, "--agent", "oracle", "--limit", "40", "--name", "stopped")
    _wait_for_steps(database, 2, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "Cancelling running episodes." in err
    (run,) = stackrank("runs", "--json").json()
    assert run["status"] == "cancelled"
    wait_for(lambda: not _sandboxes_of(process.pid), "no sandbox is left")
    cut = [row for row in stackrank("episodes", "stopped", "--json").json() if row["stop_reason"] == "cancelled"]
    assert all(row["verdict"] == "error" for row in cut)
