"""What providers and routers send in practice, beyond their documentation.

Each is from a report about some client; the answers are made up.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from stackrank.agents.episode.protocol import AccessError, EndpointDown, EndpointError, GaveUp
from stackrank.agents.episode.step import Usage
from stackrank.env.actions import Action
from stackrank.terms import StopReason
from tests.agents.llm.test_verbatim import agent, play_steps, serve
from tests.support.openai_server import Fault, call

A, B = Action("view", {"path": "a.py"}), Action("view", {"path": "b.py"})
ARGUMENTS = '{"path": "a.py"}'
STREAM = {"Content-Type": "text/event-stream"}
END = {"delta": {}, "finish_reason": "tool_calls"}


def streamed(events: Iterable[dict[str, Any]], line: str = "\n", *, has_names: bool = False) -> Fault:
    """A stream of these events."""
    events = list(events)
    names = (f"event: {event['type']}{line}" if has_names else "" for event in events)
    return Fault(
        200,
        "".join(f"{n}data: {json.dumps(e)}{line}{line}" for n, e in zip(names, events, strict=True)).encode(),
        STREAM,
    )


def chat(*choices: dict[str, Any], **last_event: Any) -> Fault:
    """A stream of Chat Completions."""
    return streamed([{"choices": [choice]} for choice in choices] + ([last_event] if last_event else []))


def delta(**call: Any) -> dict[str, Any]:
    """A piece of a call."""
    return {"delta": {"tool_calls": [call]}}


def function_piece(name: str = "view", arguments: Any = ARGUMENTS) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def arguments_piece(text: str) -> dict[str, Any]:
    return {"arguments": text}


def test_thoughts_of_two_kinds_at_one_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenRouter gives every detail of a stream the index 0."""
    text, secret = {"type": "reasoning.text", "index": 0}, {"type": "reasoning.encrypted", "index": 0, "data": "x"}
    details = [text | {"text": "Let"}, text | {"text": " me."}, text | {"signature": "s"}, secret]
    choices = [{"delta": {"reasoning_details": [detail]}} for detail in details]
    with serve(monkeypatch, [chat(*choices, delta(index=0, id="1", function=function_piece()), END)]) as server:
        decided = play_steps(agent(stream=True), 2)
        sent = server.requests[1]["messages"][2]["reasoning_details"]
    assert sent == [text | {"text": "Let me.", "signature": "s"}, secret]
    assert decided[0].exchanges[0].reasoning == "Let me."


def body(message: dict[str, Any], finish_reason: str = "tool_calls", **fields: Any) -> Fault:
    """An answer of Chat Completions in one piece."""
    return Fault(
        200, json.dumps({"choices": [{"message": message, "finish_reason": finish_reason}], **fields}).encode()
    )


CALLED = {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": function_piece("eval", "{}")}]}


def test_thoughts_in_the_content_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mistral's form, and an empty field beside the one in use."""
    content = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}], "closed": True}]
    for thought in ({"content": content}, {"reasoning_content": "", "reasoning": "Hm."}):
        with serve(monkeypatch, [body(CALLED | thought)]) as server:
            decided = play_steps(agent(), 2)
            sent = server.requests[1]["messages"][2]
        assert decided[0].exchanges[0].reasoning == "Hm."
        assert sent.items() >= {name: value for name, value in thought.items() if value}.items()


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        # xAI and Gemini: the total has what was thought, the answer has not.
        ((10120, 1499, 14428, 128, 2809), (10120, 128, 4308, 2809)),
        ((14, 8, 1100, None, None), (14, 0, 1086, 1078)),
        ((100.0, 5.0, 105.0, 0.0, 0.0), (100, 0, 5, 0)),
        ((20, 5, 25, 80, 0), (100, 80, 5, 0)),  # the cache counted apart
        ((100, 5, 10**30, 0, 0), (100, 0, 5, 0)),
    ],
)
def test_how_tokens_are_counted(
    monkeypatch: pytest.MonkeyPatch, usage: tuple[Any, ...], counted: tuple[int, ...]
) -> None:
    reported_usage = {
        **dict(zip(("prompt_tokens", "completion_tokens", "total_tokens"), usage, strict=False)),
        "prompt_tokens_details": {"cached_tokens": usage[3]},
        "completion_tokens_details": {"reasoning_tokens": usage[4]},
    }
    counts = used(monkeypatch, reported_usage)
    assert (counts.tokens_in, counts.tokens_cached, counts.tokens_out, counts.tokens_reasoning) == counted
    assert not counts.estimated and counts.cost_usd and counts.cost_usd > 0


@pytest.mark.parametrize("odd", [None, -1, "7", 1.5, True, 1e308, [], {}])
def test_tokens_that_are_no_number_are_estimated(monkeypatch: pytest.MonkeyPatch, odd: Any) -> None:
    for counted_field in ("prompt_tokens", "completion_tokens"):
        counts = used(monkeypatch, {"prompt_tokens": odd, "completion_tokens": odd, counted_field: 77})
        assert counts.estimated and counts.tokens_in > 0 and counts.tokens_out > 0
        assert 77 in (counts.tokens_in, counts.tokens_out)


def used(monkeypatch: pytest.MonkeyPatch, usage: Any) -> Usage:
    with serve(monkeypatch, [body(CALLED, usage=usage)]):
        return play_steps(agent(price={"input": 1, "cached_input": 0.1, "output": 2}), 1)[0].usage


OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}
RAW = {"raw": '{"error": {"message": "rate-limited upstream"}}', "provider_name": "x"}
BUSY = {"message": "Provider returned error", "code": 429, "metadata": RAW}


@pytest.mark.parametrize(
    ("api", "stream", "fault", "message"),
    [
        (
            "chat",
            False,
            Fault(200, json.dumps({"error": BUSY, "choices": None}).encode()),
            "429: .*rate-limited upstream",
        ),
        ("chat", True, streamed([{"error": BUSY}]), "429: .*rate-limited upstream"),
        ("chat", False, body({"content": "Let me"}, "error"), "broke off: error"),
        ("chat", False, body({"content": "Let me"}, "insufficient_system_resource"), "broke off"),
        (
            "chat",
            True,
            chat({"delta": {"content": "Le"}}, {"delta": {}, "error": BUSY, "finish_reason": "error"}),
            "429",
        ),
        ("chat", True, chat(delta(index=0, id="1", function=function_piece("view", '{"pa'))), "broke off"),  # no end
        ("chat", True, Fault(200, b'{"choices": []}'), "try `stream: false`"),
        ("chat", False, chat({"delta": {"content": "x"}}, END), "try `stream: true`"),
        ("messages", True, streamed([{"type": "error", "error": OVERLOADED}], has_names=True), "529: Overloaded"),
        ("messages", False, Fault(200, json.dumps({"type": "error", "error": OVERLOADED}).encode()), "529: Overloaded"),
        ("responses", True, streamed([{"type": "error", "code": "server_error", "message": "Oh."}]), "500: Oh."),
        ("responses", True, streamed([{"type": "response.created", "response": {}}]), "broke off"),
        (
            "responses",
            True,
            streamed(
                [{"type": "response.failed", "response": {"error": {"code": "server_is_overloaded"}, "output": []}}]
            ),
            "503: server_is_overloaded",
        ),
    ],
)
def test_errors_with_status_200(
    monkeypatch: pytest.MonkeyPatch, api: str, stream: bool, fault: Fault, message: str
) -> None:
    """They are retried like errors with their own status, and finally reported."""
    with serve(monkeypatch, [fault, call("eval")]) as server:
        assert play_steps(agent(api=api, stream=stream, retry_s=30.0), 1)[0].action == Action("eval", {})
        assert server.asked == 2
    with serve(monkeypatch, [fault]), pytest.raises((EndpointError, EndpointDown), match=message):
        play_steps(agent(api=api, stream=stream, retry_s=0.1), 1)


TOO_LONG = {"type": "invalid_request_error", "message": "prompt is too long: 250000 tokens > 200000 maximum"}
FAILED = {"error": {"code": "context_length_exceeded", "message": "It exceeds the context."}, "status": "failed"}
RAW_LENGTH = {"message": "Provider returned error", "code": 400, "metadata": {"raw": "the maximum context length is 9"}}


@pytest.mark.parametrize(
    ("api", "stream", "fault"),
    [
        ("messages", True, streamed([{"type": "error", "error": TOO_LONG}], has_names=True)),
        ("responses", True, streamed([{"type": "response.failed", "response": FAILED}])),
        ("responses", False, Fault(200, json.dumps({**FAILED, "output": []}).encode())),
        ("chat", False, Fault.status(400, **RAW_LENGTH)),
        ("chat", True, streamed([{"error": RAW_LENGTH}])),
    ],
)
def test_every_form_of_the_error_for_a_conversation_that_is_too_long(
    monkeypatch: pytest.MonkeyPatch, api: str, stream: bool, fault: Fault
) -> None:
    with serve(monkeypatch, [fault]) as server, pytest.raises(GaveUp) as caught:
        play_steps(agent(api=api, stream=stream, retry_s=30.0), 1)
    assert caught.value.reason is StopReason.CONTEXT_LIMIT and server.asked == 2


def test_a_wrong_key_reported_with_status_200(monkeypatch: pytest.MonkeyPatch) -> None:
    error = {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
    with (
        serve(monkeypatch, [streamed([error], has_names=True)]) as server,
        pytest.raises(AccessError, match="rejected the key"),
    ):
        play_steps(agent(api="messages", stream=True, retry_s=30.0), 1)
    assert server.asked == 1


def test_a_thought_that_nothing_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is sent back with another item after it, because the providers refuse it otherwise."""
    thought = {"type": "thinking", "thinking": "", "signature": "s"}
    blind = {"type": "redacted_thinking", "data": "x"}
    blank = {"type": "text", "text": "\n\n"}
    placeholder = {"type": "text", "text": "(nothing)"}
    for blocks in ([thought], [thought, blind], [thought, blank]):
        answer = {"content": blocks, "stop_reason": "end_turn"}
        with serve(monkeypatch, [Fault(200, json.dumps(answer).encode())]) as server:
            play_steps(agent(api="messages"), 2)
            remaining = [block for block in blocks if block is not blank]
            assert server.requests[1]["messages"][1]["content"] == [*remaining, placeholder]
    item = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"}
    answer = {"output": [item, item], "status": "completed"}
    with serve(monkeypatch, [Fault(200, json.dumps(answer).encode())]) as server:
        play_steps(agent(api="responses"), 2)
        assert server.requests[1]["input"][2:5] == [item, item, {"role": "assistant", "content": "(nothing)"}]


def test_thoughts_between_calls_stay_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    thoughts = [{"type": "thinking", "thinking": f"{n}", "signature": f"s{n}"} for n in range(2)]
    calls = [{"type": "tool_use", "id": f"t{n}", "name": "eval", "input": {}} for n in range(2)]
    blocks = [thoughts[0], calls[0], thoughts[1], {"type": "new_block", "x": None}, calls[1]]
    answer = {"content": blocks, "stop_reason": "new_reason", "usage": {"input_tokens": 9, "output_tokens": 9}}
    with serve(monkeypatch, [Fault(200, json.dumps(answer).encode()), call("submit")]) as server:
        play_steps(agent(api="messages"), 3)
        assert server.requests[1]["messages"][1]["content"] == blocks
        results = server.requests[1]["messages"][2]["content"]
    assert [block["tool_use_id"] for block in results] == ["t0", "t1"]


def test_messages_as_gateways_stream_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks numbered from 1, an input in one piece, and a final event that gives the request 0 tokens."""
    block = {"type": "tool_use", "id": "t", "name": "view", "input": {"path": "a.py"}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 90, "output_tokens": 1}}},
        {"type": "ping"},
        {"type": "content_block_start", "index": 1, "content_block": block},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ""}},
        {"type": "content_block_stop", "index": 1},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use"},
            "usage": {"input_tokens": 0, "output_tokens": 12, "cache_read_input_tokens": None},
        },
        {"type": "message_stop"},
    ]
    for line in ("\n", "\r\n"):
        with serve(monkeypatch, [streamed(events, line, has_names=True)]):
            decided = play_steps(agent(api="messages", stream=True), 1)[0]
        assert decided.action == A and (decided.usage.tokens_in, decided.usage.tokens_out) == (90, 12)


def test_an_answer_that_is_huge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stackrank.agents.llm.endpoints.transport._MOST_BYTES", 1 << 20)
    for size, is_accepted in ((900_000, True), (2_000_000, False)):
        with serve(monkeypatch, [body(CALLED | {"reasoning": "x" * size})]) as server:
            if is_accepted:
                assert play_steps(agent(), 2)[0].action == Action("eval", {})
                assert len(server.requests[1]["messages"][2]["reasoning"]) == size
            else:
                with pytest.raises(EndpointError, match="more than 1 MiB"):
                    play_steps(agent(retry_s=0), 1)
