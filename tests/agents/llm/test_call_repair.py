"""Malformed calls: what is repaired, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stackrank.agents.episode.protocol import Briefing
from stackrank.agents.llm import LlmAgent
from stackrank.agents.llm.endpoints.endpoint import Reply
from stackrank.agents.llm.syntaxes.function_calling import FunctionCalling
from stackrank.agents.llm.syntaxes.syntax import BadCall
from stackrank.agents.llm.syntaxes.tool_call import ToolCall
from stackrank.env.actions import Action, Observation
from stackrank.env.tools import find_tool, tool_set
from tests.support.openai_server import ScriptedReply, call, says

SYNTAX = FunctionCalling([find_tool(name) for name in tool_set("debug").tools])
HERMES = '<tool_call>\n{"name": "view", "arguments": {"path": "a.py"}}\n</tool_call>'
LLAMA = 'functions.view:\n{"path": "a.py"}\n'
QWEN = "<function=view>\n<parameter=path>\na.py\n</parameter>\n<parameter=start>\n3\n</parameter>\n</function>"


@pytest.mark.parametrize(
    ("name", "arguments", "action", "expected_note"),
    [
        ("view", '{"path": "a.py"}', Action("view", {"path": "a.py"}), ""),
        ("functions.view", '{"path": "a.py"}', Action("view", {"path": "a.py"}), "the tool view"),
        ("View", '{"path": "a.py"}', Action("view", {"path": "a.py"}), "the tool view"),
        ("view", json.dumps('{"path": "a.py"}'), Action("view", {"path": "a.py"}), "decoded its arguments twice"),
        (
            "view",
            '{"arguments": {"path": "a.py"}}',
            Action("view", {"path": "a.py"}),
            "took the arguments out of arguments",
        ),
        ("view", '{"path": "a.py", "why": 1}', Action("view", {"path": "a.py"}), "ignored why"),
        ("rewrite", '{"path": "a", "new_code": "x\n\ty"}', Action("rewrite", {"path": "a", "new_code": "x\n\ty"}), ""),
        ("eval", "null", Action("eval", {}), ""),
        ("eval", "", Action("eval", {}), ""),
        ("eval", '""', Action("eval", {}), "decoded its arguments twice"),
        (
            "pdb",
            '{"command": ["b cart.py:3", "c"]}',
            Action("pdb", {"command": "b cart.py:3\nc"}),
            "joined the lines of command",
        ),
        ("functions.view:0", '{"path": "a.py"}', Action("view", {"path": "a.py"}), "the tool view"),
        ("default_api.view", '{"path": "a.py"}', Action("view", {"path": "a.py"}), "the tool view"),
        ("view<|channel|>commentary", '{"path": "a.py"}', Action("view", {"path": "a.py"}), "the tool view"),
        ("view", '{}{"path": "a.py"}', Action("view", {"path": "a.py"}), "used the only JSON object"),
        ("view", '{"path": "a.py"} {"path": "a.py"}', Action("view", {"path": "a.py"}), "used the only JSON object"),
        ("view", '{"path": "a.py", "path": "a.py"}', Action("view", {"path": "a.py"}), ""),
        (
            "EVAL",
            '{"verbose": true, "why": 1}',
            Action("eval", {"verbose": True}),
            "used the tool eval; ignored why, which eval does not take",
        ),
    ],
)
def test_a_call_with_one_meaning_is_repaired(name: str, arguments: str, action: Action, expected_note: str) -> None:
    repaired, note = SYNTAX.read_action(ToolCall("1", name, arguments))
    assert repaired == action and expected_note in note and bool(note) == bool(expected_note)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("look", "{}", "no tool 'look'"),
        ("view", '{"file": "a.py"}', "takes path, start, end"),
        ("view", "[1]", "JSON object"),
        ("view", '"[1]"', "JSON object"),
        ("view", '{"path": ', "not valid JSON"),
        ("view", '{"path": "a.py"}{"path": "b.py"}', "not valid JSON"),
        ("view", '{"path": "a.py", "path": "b.py"}', "'path' occurs twice"),
        ("view", "[" * 100_000, "nested too deep"),
    ],
)
def test_a_call_without_a_clear_meaning_is_refused(name: str, arguments: str, message: str) -> None:
    with pytest.raises(BadCall, match=message):
        SYNTAX.read_action(ToolCall("1", name, arguments))


@pytest.mark.parametrize(("text", "actions"), [(HERMES, 1), (HERMES * 2, 2), (QWEN, 1), ("<tool_call>{no", 0), ("", 0)])
def test_calls_that_a_server_left_in_the_text(text: str, actions: int) -> None:
    calls = SYNTAX.find_calls(Reply(f"I look.\n{text}"))
    assert len(calls) == actions
    for found_call in calls:
        action, note = SYNTAX.read_action(found_call)
        assert action.arguments["path"] == "a.py" and action.arguments.get("start", 3) == 3 and not note
    assert SYNTAX.find_calls(Reply(text, calls=(ToolCall("1", "eval", ""),))) == (ToolCall("1", "eval", ""),)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (LLAMA, ["view"]),
        (f"{LLAMA}functions.eval:\n{LLAMA}", ["view", "eval", "view"]),
        ("functions.submit:", ["submit"]),
        (f"I call {LLAMA}", []),
        ("functions.view: it shows a file", []),
    ],
)
def test_calls_in_the_form_of_llama_cpp_python(text: str, names: list[str]) -> None:
    calls = SYNTAX.find_calls(Reply(text))
    assert [SYNTAX.read_action(found_call)[0].tool for found_call in calls] == names


def test_the_model_sees_its_own_call_and_a_note_on_the_repair(serve: Any) -> None:
    raw = ScriptedReply(calls=(("functions.rewrite", '{"path": "a.py", "new_code": "x\n"}'),))
    server = serve([raw, says(HERMES), call("submit")])
    agent = LlmAgent(model="scripted", config={})
    agent.begin(Briefing("t", "Fix it.", "pytest", tool_set("debug"), 50), Observation("It fails."))
    assert agent.act(Observation("It fails.")).action == Action("rewrite", {"path": "a.py", "new_code": "x\n"})
    assert agent.act(Observation("Rewrote a.py.")).action == Action("view", {"path": "a.py"})
    agent.act(Observation("a.py, lines 1 to 1"))
    first, result, second, answer = server.requests[-1]["messages"][2:]
    assert json.loads(first["tool_calls"][0]["function"]["arguments"])["new_code"] == "x\n"
    assert result["content"] == "[Your call was corrected: used the tool rewrite.]\nRewrote a.py."
    assert second["content"] == HERMES and "tool_calls" not in second
    assert answer == {"role": "user", "content": "a.py, lines 1 to 1"}
