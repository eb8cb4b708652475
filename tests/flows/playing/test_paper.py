"""The experiment of the debug-gym report: one specification file, any models, one comparison in the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stackrank.env.benchmarks.bug_suite import BugSuite
from stackrank.env.patches import apply_patch
from stackrank.flows.runs.specification.spec import read_spec
from tests.fixtures.calls import CommandLine
from tests.fixtures.playing import play_run
from tests.support.openai_server import Entry, OpenAIServer, call

pytestmark = pytest.mark.slow

PAPER = Path(__file__).parents[3] / "deploy" / "examples" / "paper.yaml"
TASKS = ("club-ledger", "vat-table")


def _mends() -> dict[str, list[Entry]]:
    """Task -> what a model says that knows the fix."""
    script: dict[str, list[Entry]] = {}
    for task in BugSuite().tasks():
        if task.id in TASKS:
            fixed = apply_patch(task.files, task.fix).items()
            changed = [(path, text.decode()) for path, text in fixed if task.files.get(path) != text]
            script[task.statement.strip()] = [call("rewrite", path=path, new_code=text) for path, text in changed]
    return script


def test_the_paper_in_one_file(stackrank: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Model `strong` needs the debugger for the second task; `weak` solves nothing."""
    mends = _mends()
    prompts: set[str] = set()

    def answer(body: dict[str, Any]) -> Entry:
        messages, tools = body["messages"], {tool["function"]["name"] for tool in body["tools"]}
        prompts.add(messages[0]["content"])
        statement = next(statement for statement in mends if statement in messages[1]["content"])
        knows = body["model"] == "strong" and ("pdb" in tools or statement == next(iter(mends)))
        answer_count = sum(message["role"] == "assistant" for message in messages)
        return mends[statement][answer_count] if knows and answer_count < len(mends[statement]) else call("submit")

    with OpenAIServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        spec = read_spec(PAPER, {"model": ["weak", "strong"], "tasks": list(TASKS), "attempts": 1})
        fields = spec.model_dump(mode="json", exclude={"sandbox", "workers", "matrix"})
        play_run(**fields)
    board = stackrank("leaderboard", "--run", "paper", "--json").json()
    rates = {row["entrant"]: row["rate"] for row in board["entrants"]}
    assert rates == {
        "llm/strong (debug)": 1.0, "llm/strong (debug5)": 1.0, "llm/strong (rewrite)": 0.5,
        "llm/strong (bash)": 0.5, "llm/strong (bash-debug)": 1.0,
        "llm/weak (debug)": 0.0, "llm/weak (debug5)": 0.0, "llm/weak (rewrite)": 0.0,
        "llm/weak (bash)": 0.0, "llm/weak (bash-debug)": 0.0,
    }  # fmt: skip
    call_ = ("compare", "llm/strong (rewrite)", "llm/strong (debug)", "--run", "paper")
    document = stackrank(*call_, "--json").json()
    assert (document["difference"], document["uplift"], document["only_second"]) == (0.5, 1.0, ["vat-table"])
    assert document["uplift_low"] is None or document["uplift_low"] <= 1.0
    assert 0 < document["p_value"] <= 1
    output = stackrank(*call_).out
    assert output.startswith("No clear difference: ") and " is 50.0 points above " in output and "p = " in output, (
        output
    )
    later = [text for text in prompts if "pdb: becomes available after 5 successful rewrites" in text]
    assert (len(prompts), len(later)) == (3, 1), "each tool set is told of what it has, and debug5 of when"
