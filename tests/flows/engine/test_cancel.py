"""Cancelling: from another process, by the keyboard, by SIGTERM as Prefect's own cancel does. Real processes.

The model takes a day for each answer: an episode in the middle of such a call has to end all the same.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from tests.fixtures.calls import CommandLine
from tests.fixtures.playing import drive
from tests.fixtures.scripted import ANSWERS, ENTRANT, RESOLVED, UNRESOLVED, Script
from tests.flows.engine.test_run import _sandboxes_of
from tests.support.openai_server import OpenAIServer
from tests.support.waiting import wait_for

ROOT = Path(__file__).parents[3]
DAY_S = 86_400.0
pytestmark = pytest.mark.usefixtures("prefect_server")


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """An endpoint that answers the first question of a conversation at once, and the others after a day."""
    script = Script()

    def answer(request: dict[str, object]) -> object:
        answer_count = sum(message["role"] == "assistant" for message in request["messages"])  # type: ignore[attr-defined]
        return script(request).with_(delay_s=DAY_S if answer_count else 0.0)  # type: ignore[arg-type, union-attr]

    with OpenAIServer(answer) as server:  # type: ignore[arg-type]
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield server


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", ["command", "keyboard", "signal"])
def test_cancelled_within_seconds_and_resumable(
    stackrank: CommandLine, database: str, slow: OpenAIServer, tmp_path: Path, way: str
) -> None:
    spec = {"tasks": [RESOLVED, UNRESOLVED], "entrants": [ENTRANT], "attempts": 2, "workers": 2, "name": "slow"}
    file = tmp_path / "run.yaml"
    file.write_text(json.dumps({**spec, "sandbox": "bubblewrap", "steps": 10}))
    command = [sys.executable, "-m", "stackrank.flows.cli.main", "run", str(file)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def both_wait() -> bool:
        """Whether both episodes have stored their first step and wait for the next answer."""
        running = [row["id"] for row in queries.episodes(connect(), status="running")]
        return slow.now == 2 and [queries.last_step(connect(), episode_id) for episode_id in running] == [1, 1]

    try:
        wait_for(lambda: process.poll() is not None or both_wait(), "two episodes that wait for their model")
        assert process.poll() is None, process.communicate()
        if way == "command":
            result = stackrank("cancel", "slow", "--json")
            assert (result.status, result.json()["status"], result.json()["running"]) == (0, "cancelled", 0)
        else:
            process.send_signal(signal.SIGINT if way == "keyboard" else signal.SIGTERM)
            wait_for(lambda: not queries.episodes(connect(), "slow", status="running"), "the end of both")
        process.communicate(timeout=600)
    finally:
        process.kill()
    assert process.returncode == {"command": 1, "keyboard": 130, "signal": -signal.SIGTERM}[way]
    wait_for(lambda: not _sandboxes_of(process.pid), "no sandbox is left")
    run = queries.run(connect(), "slow")
    cut = queries.episodes(connect(), run["id"], stop_reason="cancelled")
    assert (run["status"], len(cut), run["pending"]) == ("cancelled", 2, 2)
    assert [(row["verdict"], row["steps"]) for row in cut] == [("error", 1)] * 2
    questions = slow.asked

    slow._script = Script()
    if way == "command":
        assert stackrank("resume", "slow", "--json").status == 0
        assert "nothing left to play" in stackrank("resume", "slow", "--json").err
    else:
        assert drive(run["id"]) == ""
    run = queries.run(connect(), "slow")
    assert (run["resolved"], run["unresolved"], run["errors"], run["retried"]) == (2, 2, 0, 0)
    assert slow.asked - questions == 4 * ANSWERS - 2, "the answers that were there are not paid for again"
