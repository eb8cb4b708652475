"""Anthropic's Messages API.

The blocks of an answer (thinking with its signature, text, calls) are sent back unchanged: a model that thinks between
calls cannot continue without its thoughts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stackrank.agents.llm.endpoints.endpoint import EMPTY_TEXT, WITHHELD, Endpoint, Message, Reply, count
from stackrank.agents.llm.endpoints.transport import Garbled
from stackrank.agents.llm.repairs.pieces import merge_piece
from stackrank.agents.llm.syntaxes.tool_call import (
    ToolCall,
    arguments_text,
    make_arguments_sendable,
    make_name_sendable,
    read_call,
)

_MOST_TOKENS = 32_000
"""The default for `max_tokens`; the API has none of its own."""
_BEGINNINGS = {"text_delta": {"type": "text", "text": ""}, "thinking_delta": {"type": "thinking", "thinking": ""}}
_THOUGHTS = ("thinking", "redacted_thinking")


def is_claude(model: str) -> bool:
    """Return whether a model of this name is one of Anthropic's."""
    return re.search(r"(^|/)claude", model) is not None


class Messages(Endpoint):
    """The Messages API."""

    path, conversation_name, answer_name = "/v1/messages", "messages", "content"
    max_tokens_field = "max_tokens"
    default_fields = frozenset({"max_tokens"})

    def parameters(self, tools: Sequence[dict[str, Any]], seed: int | None) -> dict[str, Any]:
        """Return the fields of a request other than the conversation. The API takes no seed."""
        settings = self.settings
        effort = settings.reasoning_effort
        one_call = {"type": "auto", "disable_parallel_tool_use": True}
        optional = {
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "thinking": {"type": "disabled" if effort == "none" else "adaptive"} if effort else None,
            "output_config": {"effort": effort} if effort not in (None, "none") else None,
            "tool_choice": one_call if tools and settings.parallel_tool_calls is False else None,
            "tools": [
                {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
                for tool in tools
            ]
            or None,
        }
        set_parameters = {name: value for name, value in optional.items() if value is not None}
        max_tokens = settings.max_tokens or _MOST_TOKENS
        return {"model": self.model, self.max_tokens_field: max_tokens, **set_parameters, **settings.extra_body}

    @classmethod
    def wire(cls, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Return the messages as blocks. The results of one answer's calls have to be in one message."""
        sent: list[dict[str, Any]] = []
        for message in messages:
            role, content = message["role"], message["content"]
            if role == "tool":
                result = {"type": "tool_result", "tool_use_id": message["tool_call_id"]}
                role, blocks = "user", [{**result, "content": content or EMPTY_TEXT}]
            else:
                blocks = content if isinstance(content, list) else [{"type": "text", "text": content or EMPTY_TEXT}]
            sent.append({"role": role, "content": list(blocks)})
        return cls.extend_wire([], sent)

    @classmethod
    def extend_wire(cls, wire: list[dict[str, Any]], addition: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the messages of both; consecutive messages of the same role become one."""
        joined = list(wire)
        for message in addition:
            if joined and joined[-1]["role"] == message["role"]:
                joined[-1] = {**message, "content": [*joined[-1]["content"], *message["content"]]}
            else:
                joined.append(message)
        return joined

    @classmethod
    def body(cls, parameters: Mapping[str, Any], wire: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a request as it is sent: the system message is separate, and marks say up to where to cache.

        The next request begins with all of this one, so the cache ends at the last block of this one.
        """
        system = [block for message in wire if message["role"] == "system" for block in message["content"]]
        messages = mark_cache_end([message for message in wire if message["role"] != "system"])
        return {
            **parameters,
            **({"system": _mark_last_block(system)} if system else {}),
            cls.conversation_name: messages,
        }

    @classmethod
    def reply(cls, answer: dict[str, Any], verbatim: bool = True) -> Reply:
        """Parse an answer."""
        calls: list[ToolCall] = []
        blocks, texts, thoughts = [], [], []
        for number, block in enumerate(answer["content"] or ()):
            if block["type"] == "tool_use":
                call = read_call(block, number, [call.id for call in calls])
                calls.append(call)
                arguments = json.loads(make_arguments_sendable(call.arguments))
                block = {**block, "id": call.id, "name": make_name_sendable(call.name), "input": arguments}
            elif block["type"] == "text":
                if not block["text"].strip():
                    continue  # the API sends blank texts and refuses to take them back
                texts.append(block["text"])
            elif block["type"] == "thinking":
                thoughts.append(block.get("thinking") or "")
            if verbatim or block["type"] in ("text", "tool_use"):
                blocks.append(block)
        if blocks and blocks[-1]["type"] in _THOUGHTS:
            # The API refuses an answer that ends with a thought.
            blocks.append({"type": "text", "text": EMPTY_TEXT})
        usage, stop_reason = answer.get("usage"), answer.get("stop_reason")
        tokens_written, cached = (count(usage, f"cache_{name}_input_tokens") for name in ("creation", "read"))
        text = "\n".join(texts) or (WITHHELD if stop_reason == "refusal" else "")
        return Reply(
            text=text,
            message={"role": "assistant", "content": blocks or [{"type": "text", "text": text or EMPTY_TEXT}]},
            reasoning="\n".join(filter(None, thoughts)),
            calls=tuple(calls),
            cut_off=stop_reason in ("max_tokens", "model_context_window_exceeded"),
            tokens_in=count(usage, "input_tokens") + tokens_written + cached,
            tokens_cached=cached,
            tokens_out=count(usage, "output_tokens"),
            tokens_written=tokens_written,
        )

    def with_text(self, message: Message, text: str) -> Message:
        """Return the model's message with this text and without tool calls; its reasoning stays."""
        thoughts = [block for block in message["content"] if block["type"] not in ("text", "tool_use")]
        return {"role": "assistant", "content": [*thoughts, {"type": "text", "text": text or EMPTY_TEXT}]}

    def join_stream(self, events: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """Assemble a streamed answer from its events, which begin blocks and add to them."""
        answer: dict[str, Any] = {}
        blocks: dict[int, dict[str, Any]] = {}
        inputs: dict[int, str] = {}
        last = -1
        for event in events:
            kind = event["type"]
            if kind == "message_start":
                answer = {**event["message"], "content": []}
            elif kind == "content_block_start":
                # Some servers count from 1, or leave numbers out.
                last = event.get("index", len(blocks))
                blocks[last] = dict(event["content_block"])
                answer["content"].append(blocks[last])
            elif kind == "content_block_delta":
                delta = event["delta"]
                last = event.get("index", last)
                if last not in blocks and delta["type"] in _BEGINNINGS:  # some servers do not announce a text
                    blocks[last] = dict(_BEGINNINGS[delta["type"]])
                    answer["content"].append(blocks[last])
                block = blocks[last]
                if delta["type"] == "input_json_delta":
                    inputs[last] = inputs.get(last, "") + (delta.get("partial_json") or "")
                elif delta["type"] == "citations_delta":
                    block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
                else:
                    merge_piece(block, {name: value for name, value in delta.items() if name != "type"})
            elif kind == "message_delta":
                answer |= event["delta"]
                # Counts that the end leaves out or gives as 0 may have been in the beginning.
                counts = {name: value for name, value in (event.get("usage") or {}).items() if value}
                answer["usage"] = {**(answer.get("usage") or {}), **counts}
        if not answer.get("stop_reason"):
            raise Garbled("its answer broke off: the stream ends without a finish reason")
        for index, text in inputs.items():
            if text:  # else the block's first event held all of it
                whole = arguments_text(blocks[index].get("input"))
                try:
                    blocks[index]["input"] = json.loads(whole + text)
                except ValueError:
                    blocks[index]["input"] = whole + text
        return answer


def mark_cache_end(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages with a mark on the last one that says up to where to cache."""
    if not messages or not messages[-1]["content"]:
        return list(messages)
    *earlier, last = messages
    content = last["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [*earlier, {**last, "content": _mark_last_block(blocks)}]


def _mark_last_block(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*blocks[:-1], {**blocks[-1], "cache_control": {"type": "ephemeral"}}]
