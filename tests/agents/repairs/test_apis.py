"""The same meaning through every API, in one piece and streamed, up to the action and to what the model reads."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stackrank.env.actions import Action
from tests.agents.endpoints.test_quirks import ARGUMENTS, STREAM, A, B, body, function_piece, streamed
from tests.agents.llm.test_verbatim import APIS, agent, play_steps, serve
from tests.support.openai_server import Fault, ScriptedReply, call, says

TAGS = "<function=view>\n<parameter=path>\na.py\n</parameter>\n</function>"
MINIMAX = (
    '<minimax:tool_call>\n<invoke name="view">\n<parameter name="path">a.py</parameter>\n</invoke>\n'
    "</minimax:tool_call>"
)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("reply", "note"),
    [
        (ScriptedReply(calls=(("view", ARGUMENTS + "}"),)), "ignored '}' after its JSON object"),
        (ScriptedReply(calls=(("view", ARGUMENTS * 2),)), "used the object that its arguments repeat"),
        (ScriptedReply(calls=(("view", ARGUMENTS + "<|call|>"),)), "ignored the marks around"),
        (ScriptedReply(calls=(("view", "{'path': 'a.py'}"),)), "Python's notation"),
        (ScriptedReply(calls=(("functions.view:0", ARGUMENTS),)), "used the tool view"),
        (says(TAGS), ""),
        (says(MINIMAX), ""),  # MiniMax-AI/MiniMax-M2.5#10
        (says(f"<think>{TAGS}</think>\n<function=view>{ARGUMENTS}</function>"), ""),
    ],
)
def test_what_has_one_meaning(
    monkeypatch: pytest.MonkeyPatch, api: str, stream: bool, reply: ScriptedReply, note: str
) -> None:
    with serve(monkeypatch, [reply, call("submit")]) as server:
        assert play_steps(agent(api=api, stream=stream), 2)[0].action == A
        conversation = json.dumps(server.requests[1], ensure_ascii=False)
    assert note in conversation and ("Your call was corrected" in conversation) == bool(note)


@pytest.mark.parametrize(
    "message",
    [
        {"tool_calls": [{"id": "1", "function": {"name": "view", "arguments": {"path": "a.py"}}}]},
        {"tool_calls": [{"id": "1", "function": {"name": "view", "parameters": {"path": "a.py"}}}]},
        {"tool_calls": [{"name": "view", "arguments": ARGUMENTS}]},
        {"tool_calls": [{"type": "function", "function": "view", "arguments": ARGUMENTS}]},
        {"tool_calls": [], "function_call": {"name": "view", "arguments": ARGUMENTS}},
    ],
)
def test_calls_of_another_shape(monkeypatch: pytest.MonkeyPatch, message: dict[str, Any]) -> None:
    """ggml-org/llama.cpp#20198: arguments as an object; the finish reason is the one of an answer without calls."""
    with serve(monkeypatch, [body({"content": None, **message}, "stop"), call("submit")]) as server:
        assert play_steps(agent(), 2)[0].action == A
        answer, result = server.requests[1]["messages"][2:4]
    assert json.loads(answer["tool_calls"][0]["function"]["arguments"]) == {"path": "a.py"}
    assert result["tool_call_id"] == answer["tool_calls"][0]["id"] and "function_call" not in answer


def test_calls_with_the_same_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """ggml-org/llama.cpp#27966"""
    calls = [{"id": "1", "function": function_piece("view", json.dumps(action.arguments))} for action in (A, B)]
    with serve(monkeypatch, [body({"content": None, "tool_calls": calls}), call("submit")]) as server:
        assert [step.action for step in play_steps(agent(), 3)[:2]] == [A, B]
        answer, *results = server.requests[1]["messages"][2:5]
    ids = [taken["id"] for taken in answer["tool_calls"]]
    assert len(set(ids)) == 2 and [result["tool_call_id"] for result in results] == ids


def messages_stream(*events: dict[str, Any]) -> Fault:
    return streamed(
        [
            {"type": "message_start", "message": {"role": "assistant", "usage": {"input_tokens": 9}}},
            *events,
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        ],
        has_names=True,
    )


def block(tool_input: Any, **at: int) -> dict[str, Any]:
    content = {"type": "tool_use", "id": "t", "name": "view", "input": tool_input}
    return {"type": "content_block_start", **at, "content_block": content}


def piece(text: str | None, **at: int) -> dict[str, Any]:
    return {"type": "content_block_delta", **at, "delta": {"type": "input_json_delta", "partial_json": text}}


@pytest.mark.parametrize(
    "events",
    [
        # BerriAI/litellm#25836, BerriAI/litellm#29491: all of the input at once, or at once and in pieces
        [block({"path": "a.py"}, index=0)],
        [block({"path": "a.py"}, index=0), piece("", index=0), piece(None, index=0)],
        [block({"path": "a.py"}, index=0), piece("{}", index=0)],
        [block({"path": "a.py"}, index=0), piece(ARGUMENTS[:7], index=0), piece(ARGUMENTS[7:], index=0)],
        [block({}, index=0), *(piece(ARGUMENTS[:end], index=0) for end in range(1, 17))],
        [block("", index=0), piece(json.dumps(ARGUMENTS), index=0)],
        [block(None, index=3), piece(ARGUMENTS + "}", index=3)],
        [block({}), piece(ARGUMENTS[:7]), piece(ARGUMENTS[7:])],
    ],
)
def test_inputs_of_streamed_messages(monkeypatch: pytest.MonkeyPatch, events: list[dict[str, Any]]) -> None:
    with serve(monkeypatch, [messages_stream(*events), call("submit")]) as server:
        assert play_steps(agent(api="messages", stream=True), 2)[0].action == A
        assert server.requests[1]["messages"][1]["content"][0]["input"] == {"path": "a.py"}


def test_inputs_that_differ_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [block({"path": "a.py"}, index=0), piece('{"path": "b.py"}', index=0)]
    with serve(monkeypatch, [messages_stream(*events), call("submit")]) as server:
        play_steps(agent(api="messages", stream=True), 2)
        assert "several JSON objects, which differ" in json.dumps(server.requests[1]["messages"][2])


def test_a_text_that_no_event_announces(monkeypatch: pytest.MonkeyPatch) -> None:
    text = [{"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": part}} for part in "Hm"]
    with serve(monkeypatch, [messages_stream(block({"path": "a.py"}, index=0), *text), call("submit")]):
        decided = play_steps(agent(api="messages", stream=True), 1)[0]
    assert decided.action == A and decided.thought == "Hm"


@pytest.mark.parametrize(
    "alive",
    [": OPENROUTER PROCESSING", "retry: 10", "id: 7", "data:", "data: ", "event: ping", ": ping\nid: 7\nretry: 1"],
)
def test_keep_alive_messages_within_a_stream(monkeypatch: pytest.MonkeyPatch, alive: str) -> None:
    """openai/openai-python#2722, theopenco/llmgateway#2334, omnigent-ai/omnigent#1474, openai/openai-go#621

    Here with lines that have no space, and with the usage in a chunk of its own.
    """
    events: list[dict[str, Any]] = [
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "1", "function": function_piece()}]}}]},
        {"choices": [{"delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 7}},
    ]
    lines = "".join(f"{alive}\n\nid:1\ndata:{json.dumps(event)}\n\n{alive}\n\n" for event in events)
    with serve(monkeypatch, [Fault(200, f"{lines}data:[DONE]\n\n".encode(), STREAM)]):
        decided = play_steps(agent(stream=True), 1)[0]
    assert decided.action == A
    assert (decided.usage.tokens_in, decided.usage.tokens_out, decided.usage.estimated) == (40, 7, False)


@pytest.mark.parametrize("alive", ["retry: 10", "data:", ": ping"])
def test_keep_alive_messages_within_streamed_messages(monkeypatch: pytest.MonkeyPatch, alive: str) -> None:
    stream = messages_stream(block({}, index=0), piece(ARGUMENTS, index=0))
    data = stream.body.replace(b"\n\n", f"\n\n{alive}\n\n".encode())
    with serve(monkeypatch, [Fault(200, data, STREAM)]):
        assert play_steps(agent(api="messages", stream=True), 1)[0].action == A


@pytest.mark.parametrize(
    "error", [{"message": "Oh.", "code": 503}, {"object": "error", "message": "Oh.", "code": "503"}]
)
def test_an_error_after_the_first_pieces(monkeypatch: pytest.MonkeyPatch, error: dict[str, Any]) -> None:
    """BerriAI/litellm#40578, vllm-project/guidellm#743, aaif-goose/goose#8027"""
    events = [{"choices": [{"delta": {"content": "Le"}}]}, {"error": error}]
    with serve(monkeypatch, [streamed(events), call("eval")]) as server:
        assert play_steps(agent(stream=True, retry_s=30.0), 1)[0].action == Action("eval", {})
        assert server.asked == 2
