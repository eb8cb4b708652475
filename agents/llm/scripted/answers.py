"""Answers of a scripted endpoint, in the forms of three APIs, and the faults that a real endpoint has."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stackrank.agents.llm.scripted.token_fields import ScriptedTokens


@dataclass(frozen=True)
class ScriptedReply:
    """A proper answer."""

    calls: tuple[tuple[str, str], ...] = ()
    """(name, arguments as JSON text) of each tool call."""
    content: str | None = None
    reasoning: str = ""
    """The model's reasoning, which thinking models want back with its signature."""
    tokens_in: int = 100
    tokens_out: int = 10
    tokens_cached: int = 0
    tokens_reasoning: int = 0
    finish_reason: str | None = None
    refusal: str | None = None
    delay_s: float = 0.0
    usage: bool = True
    """Whether the answer counts its tokens, which some servers do not."""
    tokens: ScriptedTokens | None = None
    """What a request that asks for tokens gets; None: one for each byte."""

    def with_(self, **fields: Any) -> ScriptedReply:
        """Return the same answer with these fields changed."""
        return ScriptedReply(**{**self.__dict__, **fields})


@dataclass(frozen=True)
class Fault:
    """A fault instead of an answer."""

    code: int = 0
    """HTTP status; 0: the connection is dropped without an answer."""
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    claimed_length: int | None = None
    """Content-Length to claim; if it is larger than the body, the connection breaks in the middle of the body."""

    @staticmethod
    def status(
        code: int, message: str = "scripted fault", /, *, retry_after: float | str | None = None, **error: Any
    ) -> Fault:
        """Return an error as the protocol describes it."""
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
        return Fault(200, b'{"id": "x", "choices": [{"mess', claimed_length=5000)

    @staticmethod
    def garbled(body: bytes = b"<html>gateway</html>") -> Fault:
        """Status 200 and something other than an answer."""
        return Fault(200, body)


Entry = ScriptedReply | Fault
Script = Sequence[Entry] | Callable[[dict[str, Any]], Entry]


def call(tool: str, /, **arguments: Any) -> ScriptedReply:
    """An answer with one tool call."""
    return ScriptedReply(calls=((tool, json.dumps(arguments)),))


def calls(*replies: ScriptedReply) -> ScriptedReply:
    """One answer with the calls of several answers."""
    return ScriptedReply(calls=tuple(tool_call for reply in replies for tool_call in reply.calls))


def says(text: str, **fields: Any) -> ScriptedReply:
    """An answer without a tool call."""
    return ScriptedReply(content=text, **fields)


def build_completion(reply: ScriptedReply, model: str, number: int) -> dict[str, Any]:
    """Return the body of an answer of Chat Completions."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    if reply.calls:
        message["tool_calls"] = [
            {"id": f"call_{number}_{position}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for position, (name, arguments) in enumerate(reply.calls)
        ]
    if reply.reasoning:
        # The fields of DeepSeek, OpenRouter and Gemini, in this order.
        message["reasoning_content"] = reply.reasoning
        message["reasoning_details"] = [{"type": "reasoning.text", "text": reply.reasoning, "index": 0, "id": None}]
        for call in message.get("tool_calls", ()):
            call["extra_content"] = {"google": {"thought_signature": f"signed {call['id']}"}}
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


def build_response(reply: ScriptedReply, model: str, number: int) -> dict[str, Any]:
    """Return the body of an answer of the Responses API."""
    output: list[dict[str, Any]] = []
    if reply.tokens_reasoning or reply.reasoning:
        summary = [{"type": "summary_text", "text": reply.reasoning}] if reply.reasoning else []
        output.append(
            {"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": f"secret {number}"}
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


def build_message(reply: ScriptedReply, model: str, number: int) -> dict[str, Any]:
    """Return the body of an answer of Anthropic's Messages API."""
    content: list[dict[str, Any]] = []
    if reply.reasoning:
        content.append({"type": "thinking", "thinking": reply.reasoning, "signature": f"signed {number}"})
    if reply.content:
        content.append({"type": "text", "text": reply.content})
    for position, (name, arguments) in enumerate(reply.calls):
        # The API itself ensures that the input is an object.
        try:
            tool_input = json.loads(arguments or "{}")
        except ValueError:
            tool_input = {"arguments": arguments}
        content.append({"type": "tool_use", "id": f"toolu_{number}_{position}", "name": name, "input": tool_input})
    stop_reason = "refusal" if reply.refusal else "tool_use" if reply.calls else "end_turn"
    body: dict[str, Any] = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "max_tokens" if reply.finish_reason == "length" else stop_reason,
        "stop_sequence": None,
    }
    if reply.usage:
        body["usage"] = {
            "input_tokens": reply.tokens_in - reply.tokens_cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": reply.tokens_cached,
            "output_tokens": reply.tokens_out,
        }
    return body
