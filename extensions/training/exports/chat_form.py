"""Converts conversations of every API to the form that trainers read: messages and tools of Chat Completions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NotRequired, TypedDict, cast

from stackrank.wording import as_json

Wire = Sequence[Mapping[str, Any]]


class CalledFunction(TypedDict):
    """The function that a model calls."""

    name: str
    arguments: str
    """JSON, as the model wrote it."""


class ToolCall(TypedDict):
    """A call of a tool by a model."""

    id: str
    type: str
    function: CalledFunction


class ChatMessage(TypedDict):
    """A message of Chat Completions. All messages of an export have the same types, whatever the endpoint sent."""

    role: str
    content: str | None
    """The text; of several parts, those that are text."""
    reasoning_content: NotRequired[str]
    tool_calls: NotRequired[list[ToolCall]]
    tool_call_id: NotRequired[str]
    """Of a message of the role `tool`: which call it answers."""
    name: NotRequired[str]
    extra: NotRequired[dict[str, Any]]
    """What else was sent, or in another form: parts that are not text, fields of a provider."""


def to_typed_messages(messages: Wire) -> list[ChatMessage]:
    """Return messages of Chat Completions with the types of `ChatMessage`."""
    return list(map(_typed_message, messages))


def _typed_message(message: Mapping[str, Any]) -> ChatMessage:
    content, calls = message.get("content"), message.get("tool_calls")
    typed: dict[str, Any] = {"role": str(message.get("role") or ""), "content": content}
    if isinstance(content, list):
        typed["content"] = "\n".join(part["text"] for part in content if isinstance(part, dict) and _is_text(part))
    elif content is not None and not isinstance(content, str):
        typed["content"] = as_json(content)
    for name in ("reasoning_content", "tool_call_id", "name"):
        if isinstance(message.get(name), str):
            typed[name] = message[name]
    if isinstance(calls, list) and calls:
        typed["tool_calls"] = [_typed_call(call) for call in calls if isinstance(call, Mapping)]
    if extra := {name: value for name, value in message.items() if value is not None and typed.get(name) != value}:
        typed["extra"] = extra
    return cast(ChatMessage, typed)


def _is_text(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("text"), str)


def _typed_call(call: Mapping[str, Any]) -> ToolCall:
    function = call.get("function")
    function = function if isinstance(function, Mapping) else {}
    arguments = function.get("arguments", "")
    return {
        "id": str(call.get("id") or ""),
        "type": str(call.get("type") or "function"),
        "function": {
            "name": str(function.get("name") or ""),
            "arguments": arguments if isinstance(arguments, str) else as_json(arguments),
        },
    }


def to_chat_messages(api: str, wire: Wire) -> list[dict[str, Any]]:
    """Convert a conversation in the wire form of `api` to messages of Chat Completions; those of `chat` stay unchanged.

    A model's reasoning becomes `reasoning_content`, if the endpoint sent it. Each answer becomes one message.
    """
    if api == "chat":
        return [dict(message) for message in wire]
    parts = _from_responses(wire) if api == "responses" else _from_messages(wire)
    messages: list[dict[str, Any]] = []
    for message in parts:
        # One answer may be several pieces; two answers are never adjacent, so adjacent pieces belong together.
        if messages and messages[-1]["role"] == message["role"] == "assistant":
            _add(messages[-1], message)
        else:
            messages.append({"role": message["role"], "content": None, **message})
    return messages


def to_chat_tools(api: str, tools: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Convert the tools of a request to the form of Chat Completions."""
    if api == "chat":
        return [dict(tool) for tool in tools]
    schema = "parameters" if api == "responses" else "input_schema"
    return [
        {
            "type": "function",
            "function": {"name": tool["name"], "description": tool["description"], "parameters": tool[schema]},
        }
        for tool in tools
        if schema in tool  # the provider's built-in tools have no schema
    ]


def reasoning_of(message: Mapping[str, Any]) -> str:
    """Return the reasoning in a message of the model; empty if there is none."""
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    return reasoning if isinstance(reasoning, str) else ""


def _add(message: dict[str, Any], addition: Mapping[str, Any]) -> None:
    for name in ("content", "reasoning_content"):
        if addition.get(name):
            message[name] = "\n".join(filter(None, (message.get(name), addition[name])))
    if addition.get("tool_calls"):
        message["tool_calls"] = [*message.get("tool_calls", ()), *addition["tool_calls"]]


def _call(name: str, call_id: str, arguments: str) -> dict[str, Any]:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "tool_calls": [call]}


def _text(content: str | Wire | None) -> str:
    """Return a message's content as one text; parts without text, such as pictures, count as empty."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.get("text") or part.get("refusal") or "" for part in content)


def _from_responses(items: Wire) -> Iterable[dict[str, Any]]:
    for item in items:
        kind = item.get("type")
        if kind == "function_call":
            yield _call(item["name"], item["call_id"], item["arguments"])
        elif kind == "function_call_output":
            yield {"role": "tool", "tool_call_id": item["call_id"], "content": _text(item["output"])}
        elif kind == "reasoning":
            parts = item.get("content") or item.get("summary") or ()
            yield {"role": "assistant", "reasoning_content": "\n".join(part.get("text") or "" for part in parts)}
        elif "role" in item:
            yield {"role": item["role"], "content": _text(item["content"])}


def _from_messages(messages: Wire) -> Iterable[dict[str, Any]]:
    for message in messages:
        role, content = message["role"], message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            kind = block["type"]
            if kind == "tool_result":
                yield {"role": "tool", "tool_call_id": block["tool_use_id"], "content": _text(block.get("content"))}
            elif kind == "tool_use":
                yield _call(block["name"], block["id"], json.dumps(block["input"], ensure_ascii=False))
            elif kind == "thinking":
                yield {"role": role, "reasoning_content": block.get("thinking") or ""}
            elif kind == "text":
                yield {"role": role, "content": block["text"]}
            elif role == "assistant":  # hidden blocks, such as redacted thoughts, have no text
                yield {"role": role}
