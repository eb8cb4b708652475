"""The three APIs, as a server sees them: bodies, streams, and which answers a request sends back."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from stackrank.agents.llm.scripted.answers import ScriptedReply, build_completion, build_message, build_response
from stackrank.agents.llm.syntaxes.tool_call import ToolCall, make_sendable, read_call

Event = tuple[str, Any]
"""The name of an event, empty for Chat Completions, and its data."""


@dataclass(frozen=True)
class Dialect:
    """How one API writes its answers."""

    path: str
    body: Callable[[ScriptedReply, str, int], dict[str, Any]]
    """(reply, model, number of the request) -> the body of the answer."""
    events: Callable[[dict[str, Any]], Iterator[Event]]
    """Splits a body into the events of a stream."""
    answers_of: Callable[[dict[str, Any]], Iterable[str]]
    """The parts of an answer that the next request has to repeat, each as text to compare."""
    answers_in: Callable[[dict[str, Any]], Iterable[str]]
    """The parts of earlier answers that a request repeats, in the same form."""


def dialect_of(path: str) -> Dialect | None:
    """Return the API that is spoken at a path; None if there is none."""
    return next((dialect for dialect in DIALECTS if path.split("?")[0].endswith(dialect.path)), None)


def stream(events: Iterable[Event]) -> bytes:
    """Encode events as a stream; https://html.spec.whatwg.org/multipage/server-sent-events.html."""
    lines = []
    for name, data in events:
        lines.append(f"event: {name}\n" if name else "")
        lines.append(f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n")
    return "".join(lines).encode()


def _comparable(part: Any) -> str:
    return json.dumps(part, sort_keys=True)


def _message_text(answer: dict[str, Any]) -> str:
    """Return a message of Chat Completions as text, without empty fields and with calls as they can be sent."""
    fields = {name: value for name, value in answer.items() if value not in (None, [], "(nothing)")}
    if "tool_calls" in fields:
        fields["tool_calls"] = [
            {**call, "function": _sendable_function(call["function"])} for call in fields["tool_calls"]
        ]
    return _comparable(fields)


def _sendable_function(function: dict[str, Any]) -> dict[str, Any]:
    return {**function, **make_sendable(ToolCall("", function["name"], function["arguments"]))}


def _chat_events(body: dict[str, Any]) -> Iterator[Event]:
    # As tolerant as the clients that read such an answer: servers leave things out.
    choice = body["choices"][0]
    message = choice.get("message") or {}
    frame = {name: body[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    prompt = {name: body[name] for name in ("prompt_token_ids",) if name in body}

    def piece(delta: dict[str, Any], **fields: Any) -> Event:
        return "", {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None, **fields}]}

    yield "", {**piece({"role": "assistant", "content": ""})[1], **prompt}
    for name, value in message.items():
        if name == "tool_calls":
            for index, call in enumerate(value or ()):
                read, function = read_call(call, index, ()), call.get("function")
                fields = function if isinstance(function, dict) else {}
                start = {**call, "index": index, "function": {**fields, "name": read.name, "arguments": ""}}
                yield piece({name: [start]})
                for half in _halves(read.arguments):
                    yield piece({name: [{"index": index, "function": {"arguments": half}}]})
        elif isinstance(value, str) and name != "role":
            for half in _halves(value):
                yield piece({name: half})
        elif value is not None and name != "role":
            yield piece({name: value})
    tokens = {name: choice[name] for name in ("token_ids", "logprobs", "meta_info") if name in choice}
    finish_reason = choice.get("finish_reason") or ("tool_calls" if message.get("tool_calls") else "stop")
    yield piece({}, finish_reason=finish_reason, **tokens)
    if body.get("usage") is not None:
        yield "", {**frame, "choices": [], "usage": body["usage"]}
    yield "", "[DONE]"


def _response_events(body: dict[str, Any]) -> Iterator[Event]:
    numbers = itertools.count()

    def event(name: str, **fields: Any) -> Event:
        return f"response.{name}", {"type": f"response.{name}", "sequence_number": next(numbers), **fields}

    yield event("created", response={**body, "output": [], "status": "in_progress"})
    for index, item in enumerate(body["output"]):
        at = {"output_index": index, "item_id": item.get("id") or ""}
        empty = {"content": [], "arguments": "", "summary": [], "status": "in_progress"}
        start = {name: empty.get(name, value) for name, value in item.items()}
        yield event("output_item.added", output_index=index, item=start)
        for half in _halves(item.get("arguments") or ""):
            yield event("function_call_arguments.delta", **at, delta=half)
        if item.get("arguments") is not None:
            yield event("function_call_arguments.done", **at, arguments=item["arguments"])
        for number, part in enumerate(item.get("content") or ()):
            part_type = part["type"]  # output_text, reasoning_text, refusal
            kind = "refusal" if part_type == "refusal" else "text"
            position, text = {**at, "content_index": number}, part.get(kind) or ""
            yield event("content_part.added", **position, part={**part, kind: ""})
            for half in _halves(text):
                yield event(f"{part_type}.delta", **position, delta=half)
            yield event(f"{part_type}.done", **position, **{kind: text})
            yield event("content_part.done", **position, part=part)
        yield event("output_item.done", output_index=index, item=item)
    yield event("incomplete" if body["status"] == "incomplete" else "completed", response=body)


def _message_events(body: dict[str, Any]) -> Iterator[Event]:
    yield "message_start", {"type": "message_start", "message": {**body, "content": [], "stop_reason": None}}
    yield "ping", {"type": "ping"}
    for index, block in enumerate(body["content"]):
        at = {"index": index}
        empty = {"text": "", "thinking": "", "signature": "", "input": {}}
        start = {name: empty.get(name, value) for name, value in block.items()}
        yield "content_block_start", {"type": "content_block_start", **at, "content_block": start}
        for name in ("thinking", "signature", "text"):
            content = block.get(name) or ""
            for half in _halves(content) if name != "signature" else filter(None, [content]):  # it is not split
                delta = {"type": f"{name}_delta", name: half}
                yield "content_block_delta", {"type": "content_block_delta", **at, "delta": delta}
        for half in _halves(json.dumps(block["input"]) if "input" in block else ""):
            delta = {"type": "input_json_delta", "partial_json": half}
            yield "content_block_delta", {"type": "content_block_delta", **at, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", **at}
    final: dict[str, Any] = {"type": "message_delta", "delta": {"stop_reason": body["stop_reason"]}}
    yield "message_delta", final | ({"usage": body["usage"]} if "usage" in body else {})
    yield "message_stop", {"type": "message_stop"}


def _halves(text: str) -> list[str]:
    return [half for half in (text[: len(text) // 2], text[len(text) // 2 :]) if half]


def _pair_items(items: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Pair each item of the Responses API with the thought before it: servers refuse either without the other."""
    thought = None
    for item in items:
        if item.get("type") == "function_call":
            item = {**item, **_sendable_function(item)}
        if item.get("type") == "reasoning":
            thought = item
        elif item.get("type") in ("function_call", "message") and item.get("role") != "user":
            yield _comparable([thought, item])
        elif item.get("role") in ("user", "system") or item.get("type") == "function_call_output":
            thought = None


def _blocks_text(content: list[dict[str, Any]]) -> str:
    return _comparable([{name: value for name, value in block.items() if name != "cache_control"} for block in content])


DIALECTS = (
    Dialect(
        "/chat/completions",
        build_completion,
        _chat_events,
        lambda body: [_message_text(body["choices"][0]["message"])],
        lambda request: [_message_text(message) for message in request["messages"] if message["role"] == "assistant"],
    ),
    Dialect(
        "/responses",
        build_response,
        _response_events,
        lambda body: _pair_items(body["output"]),
        lambda request: _pair_items(request["input"]),
    ),
    Dialect(
        "/v1/messages",
        build_message,
        _message_events,
        lambda body: [_blocks_text(body["content"])],
        lambda request: [
            _blocks_text(message["content"]) for message in request["messages"] if message["role"] == "assistant"
        ],
    ),
)
