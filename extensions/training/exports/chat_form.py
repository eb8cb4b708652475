"""Converts conversations of every API to the form that trainers read: messages and tools of Chat Completions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Wire = Sequence[Mapping[str, Any]]


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
