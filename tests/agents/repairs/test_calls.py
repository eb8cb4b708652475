"""Malformed calls: what is repaired, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stackrank.agents.episode.protocol import Briefing
from stackrank.agents.llm import LlmAgent
from stackrank.agents.llm.syntaxes.function_calling import FunctionCalling
from stackrank.agents.llm.syntaxes.syntax import BadCall
from stackrank.agents.llm.syntaxes.tool_call import ToolCall
from stackrank.env.actions import Action, Observation
from stackrank.env.tools import find_tool, tool_set
from tests.support.openai_server import ScriptedReply, call, says

SYNTAX = FunctionCalling([find_tool(name) for name in tool_set("debug").tools])
HERMES = '<tool_call>\n{"name": "view", "arguments": {"path": "a.py"}}\n</tool_call>'


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
        ("view", '{"path": "a.py"}}', Action("view", {"path": "a.py"}), "ignored '}' after its JSON object"),
        # NousResearch/hermes-agent#3468: the name comes again with each piece.
        ("viewviewview", '{"path": "a.py"}', Action("view", {"path": "a.py"}), "the tool view"),
        ("vivieview", '{"path": "a.py"}', Action("view", {"path": "a.py"}), "the tool view"),
        # ggml-org/llama.cpp#24658: Kimi's own name of a call.
        ("functions_view_2", '{"path": "a.py"}', Action("view", {"path": "a.py"}), "the tool view"),
        ("list-dir", "{}", Action("listdir", {}), "the tool listdir"),
        # lidge-jun/opencodex#1938 and NousResearch/hermes-agent#5265: values of another type than the schema says.
        ("grep", '{"pattern": 42}', Action("grep", {"pattern": "42"}), ""),
        ("view", '{"path": "a.py", "start": "3"}', Action("view", {"path": "a.py", "start": 3}), ""),
        # ml-explore/mlx-lm#1417
        ("view", '{"path": "a.py", "start": "3.0"}', Action("view", {"path": "a.py", "start": 3}), ""),
        ("eval", '{"verbose": "True"}', Action("eval", {"verbose": True}), ""),
        (
            "eval",
            '{"parameters": "{\\"verbose\\": true}"}',
            Action("eval", {"verbose": True}),
            "took the arguments out",
        ),
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
        ("view", '{"path": "a.py"}{"path": "b.py"}', "several JSON objects, which differ"),
        ("viewevalview", '{"path": "a.py"}', "no tool 'viewevalview'"),
        ("viev", '{"path": "a.py"}', "no tool 'viev'"),
        ("", '{"path": "a.py"}', "no tool ''"),
        ("view", '{"path": "a.py", "path": "b.py"}', "'path' occurs twice"),
        ("view", "[" * 100_000, "nested too deep"),
    ],
)
def test_a_call_without_a_clear_meaning_is_refused(name: str, arguments: str, message: str) -> None:
    with pytest.raises(BadCall, match=message):
        SYNTAX.read_action(ToolCall("1", name, arguments))


def test_a_name_that_only_the_id_says() -> None:
    assert SYNTAX.read_action(ToolCall("functions.eval:0", "", "{}"))[0] == Action("eval", {})


def test_a_value_that_is_not_of_the_type_stays_as_it_is() -> None:
    for text in ("true", "x", "[3]", "3.5"):
        arguments = json.dumps({"path": "a.py", "start": text})
        assert SYNTAX.read_action(ToolCall("1", "view", arguments))[0].arguments["start"] == text


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
