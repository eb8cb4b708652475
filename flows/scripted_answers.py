"""Answers of a scripted endpoint in the OpenAI protocol, with every fault that a real one has."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reply:
    """A proper answer."""

    calls: tuple[tuple[str, str], ...] = ()
    """(name, arguments as JSON text) of each tool call."""
    content: str | None = None
    tokens_in: int = 100
    tokens_out: int = 10
    tokens_cached: int = 0
    tokens_reasoning: int = 0
    finish_reason: str | None = None
    refusal: str | None = None
    delay_s: float = 0.0
    usage: bool = True
    """Some servers say nothing about tokens."""

    def with_(self, **fields: Any) -> Reply:
        """The same answer with other fields."""
        return Reply(**{**self.__dict__, **fields})


@dataclass(frozen=True)
class Fault:
    """An answer that is none."""

    code: int = 0
    """HTTP status; 0: the connection is dropped without an answer."""
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    promised: int | None = None
    """Content-Length to claim; larger than the body: the connection breaks in the middle of it."""

    @staticmethod
    def status(
        code: int, message: str = "scripted fault", /, *, retry_after: float | str | None = None, **error: Any
    ) -> Fault:
        """An error as the protocol describes it."""
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        body = {"error": {"message": message, "type": "scripted", "code": None, **error}}
        return Fault(code, json.dumps(body).encode(), headers)

    @staticmethod
    def dropped() -> Fault:
        """The connection ends before an answer begins."""
        return Fault()

    @staticmethod
    def broken_body() -> Fault:
        """The connection ends in the middle of the answer."""
        return Fault(200, b'{"id": "x", "choices": [{"mess', promised=5000)

    @staticmethod
    def garbled(body: bytes = b"<html>gateway</html>") -> Fault:
        """Status 200 and something else than an answer."""
        return Fault(200, body)


Entry = Reply | Fault
Script = Sequence[Entry] | Callable[[dict[str, Any]], Entry]


def call(tool: str, /, **arguments: Any) -> Reply:
    """An answer with one tool call."""
    return Reply(calls=((tool, json.dumps(arguments)),))


def calls(*each: Reply) -> Reply:
    """One answer with the calls of several."""
    return Reply(calls=tuple(one for reply in each for one in reply.calls))


def says(text: str, **fields: Any) -> Reply:
    """An answer without a tool call."""
    return Reply(content=text, **fields)


def completion(reply: Reply, model: str, number: int) -> dict[str, Any]:
    """The body of an answer of Chat Completions."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    if reply.calls:
        message["tool_calls"] = [
            {"id": f"call_{number}_{position}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for position, (name, arguments) in enumerate(reply.calls)
        ]
    body: dict[str, Any] = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": reply.finish_reason or ("tool_calls" if reply.calls else "stop"),
            }
        ],
    }
    if reply.usage:
        body["usage"] = {
            "prompt_tokens": reply.tokens_in,
            "completion_tokens": reply.tokens_out,
            "total_tokens": reply.tokens_in + reply.tokens_out,
            "prompt_tokens_details": {"cached_tokens": reply.tokens_cached},
            "completion_tokens_details": {"reasoning_tokens": reply.tokens_reasoning},
        }
    return body


def response(reply: Reply, model: str, number: int) -> dict[str, Any]:
    """The body of an answer of the Responses API."""
    output: list[dict[str, Any]] = []
    if reply.tokens_reasoning:
        output.append(
            {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": f"secret {number}"}
        )
    if reply.content or reply.refusal:
        part = (
            {"type": "refusal", "refusal": reply.refusal}
            if reply.refusal
            else {"type": "output_text", "text": reply.content}
        )
        output.append(
            {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [part]}
        )
    output += [
        {
            "type": "function_call",
            "id": f"fc_{number}_{position}",
            "call_id": f"call_{number}_{position}",
            "name": name,
            "arguments": arguments,
            "status": "completed",
        }
        for position, (name, arguments) in enumerate(reply.calls)
    ]
    cut_off = reply.finish_reason == "length"
    body: dict[str, Any] = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "model": model,
        "status": "incomplete" if cut_off else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut_off else None,
        "error": None,
        "output": output,
    }
    if reply.usage:
        body["usage"] = {
            "input_tokens": reply.tokens_in,
            "input_tokens_details": {"cached_tokens": reply.tokens_cached},
            "output_tokens": reply.tokens_out,
            "output_tokens_details": {"reasoning_tokens": reply.tokens_reasoning},
            "total_tokens": reply.tokens_in + reply.tokens_out,
        }
    return body
