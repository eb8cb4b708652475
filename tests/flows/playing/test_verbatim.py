"""Thinking models in whole runs: an endpoint that answers 400 unless everything that it said comes back."""

from __future__ import annotations

from typing import Any

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.flows.runs.afterwards.replay import replay
from tests.fixtures.playing import drive
from tests.fixtures.scripted import RESOLVED, Script
from tests.flows.engine.test_resume import in_a_process, rows, scripted_run, steps_of
from tests.support.openai_server import Entry, OpenAIServer, call
from tests.support.waiting import wait_for

STEPS = 20
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("database")]


class Thinking(Script):
    """Looks around for many steps, and thinks before each."""

    def __call__(self, request: dict[str, Any]) -> Entry:
        answer_count = sum(message["role"] == "assistant" for message in request.get("messages", ()))
        answer_count += sum(item.get("type") == "function_call" for item in request.get("input", ()))
        reply = call("listdir", depth=answer_count % 3 + 1) if answer_count < STEPS - 1 else call("submit")
        return reply.with_(reasoning=f"Thought {answer_count}.", content=f"Step {answer_count}.", delay_s=0.02)


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_twenty_steps_a_kill_and_a_replay(monkeypatch: pytest.MonkeyPatch, api: str) -> None:
    with OpenAIServer(Thinking(), verbatim=True) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        entrant = {"agent": "llm", "model": "scripted", "tools": "rewrite"}
        config = {"api": api, **({"base_url": server.url.removesuffix("/v1")} if api == "messages" else {})}
        fields = {"tasks": [RESOLVED], "entrants": [{**entrant, "config": config}], "attempts": 1, "workers": 1}
        run_id = scripted_run(**fields, steps=40)
        process = in_a_process(run_id)
        wait_for(lambda: any(len(tools) > STEPS // 2 for tools in steps_of(run_id)), "the middle of the episode")
        process.kill()
        process.wait()
        assert drive(run_id) == ""
        (row,) = rows(run_id)
        assert (row["steps"], row["stop_reason"], row["interruptions"]) == (STEPS, "submitted", 1), row["error"]
        assert server.asked <= STEPS + 1
    engine = connect()
    exchanges = queries.exchanges(engine, row["id"], 5)
    assert exchanges[0]["reasoning"] == "Thought 4." and "Thought 4." in str(exchanges[0]["answer"])
    assert replay(engine, queries.episode(engine, row["id"]), "bubblewrap").result == "same"
