"""An investigation in a run: cut off in its middle and gone on with, shown, exported and replayed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from tests.fixtures.calls import CommandLine
from tests.fixtures.env import usable
from tests.fixtures.playing import drive, make_run
from tests.support.openai_server import Entry, OpenAIServer, call
from tests.support.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("database")]
ROOT = Path(__file__).parents[3]
MAIN = [call("listdir"), call("investigate", question="Why?"), call("submit")]
INSIDE = [call("pdb", command="c\nw"), call("listdir"), call("answer", text="Because.").with_(content="I know.")]
TOOLS = ["", "listdir", "investigate", "pdb", "listdir", "answer", "submit"]


def answer(request: dict[str, Any]) -> Entry:
    script = INSIDE if "Question:" in json.dumps(request["messages"]) else MAIN
    answer_count = sum(message["role"] == "assistant" for message in request["messages"])
    return script[answer_count].with_(delay_s=0.2)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with OpenAIServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield server


@pytest.mark.exhaustive
def test_a_killed_investigation_continues_and_is_shown(endpoint: OpenAIServer, stackrank: CommandLine) -> None:
    usable("bubblewrap")
    entrants = [{"agent": "llm", "model": "scripted", "tools": "investigate"}]
    run_id = make_run(entrants=entrants, tasks=["club-ledger"], sandbox="bubblewrap", workers=1)
    code = f"from tests.fixtures.playing import drive; drive({run_id})"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    wait_for(lambda: "pdb" in (step["tool"] for step in queries.steps(connect(), 1)), "the investigation")
    process.kill()
    process.wait()
    steps_before = len(queries.steps(connect(), 1))
    assert drive(run_id) == ""
    # One answer may have been on its way when it was killed; none that was recorded is asked for again.
    assert len(TOOLS) - 1 <= endpoint.asked <= len(TOOLS) and steps_before < len(TOOLS)
    episode = stackrank("trace", "1", "--json").json()
    assert [step["tool"] for step in episode["steps"]] == TOOLS
    assert [step["investigation"] for step in episode["steps"]] == [None, None, None, 2, 2, 2, None]
    assert episode["tokens_in"] == 100 * (len(TOOLS) - 1)
    assert "--- step 3 (investigation of step 2): pdb" in stackrank("trace", "1").out
    conversation, investigation = [
        json.loads(line) for line in stackrank("export", "1", "--format", "chat").out.splitlines()
    ]
    calls = [message["tool_calls"][0] for message in conversation["messages"] if "tool_calls" in message]
    assert [call["function"]["name"] for call in calls] == [
        "listdir", "investigate", "submit",
    ]  # fmt: skip
    assert conversation["messages"][5]["content"] == "Because." and "investigation" not in conversation["metadata"]
    assert (
        "Question:\n\nWhy?" in investigation["messages"][1]["content"]
        and investigation["metadata"]["investigation"] == 2
    )
    assert [message["role"] for message in investigation["messages"]] == [
        "system",
        "user",
        *["assistant", "tool"] * 2,
        "assistant",
    ]
    assert (
        investigation["metadata"]["conversation"] == "investigator 1"
        and conversation["metadata"]["conversation"] == "main"
    )
    assert {tool["function"]["name"] for tool in json.loads(investigation["tools"])} >= {"pdb", "answer"}
    assert stackrank("replay", "1", "--json").json()["replayed"] == "same"
