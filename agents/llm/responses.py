"""The Responses API of OpenAI, without anything kept on the server's side.

The items of an answer (reasoning, calls, text) go back as they came: reasoning models go on from their encrypted
reasoning, which `store: false` needs to be asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from agents.llm.endpoint import Call, Endpoint, Message, Reply
from agents.llm.retries import Garbled

_REASONING = re.compile(r"(^|/)(o\d|gpt-5|codex)")


def is_reasoning(model: str) -> bool:
    """Whether OpenAI's model of that name reasons: o1, o3, o4-mini, gpt-5 and what followed it, codex."""
    return _REASONING.search(model) is not None


class Responses(Endpoint):
    """The Responses API."""

    path, conversation_name = "/responses", "input"
    limit_name = "max_output_tokens"

    def parameters(self, tools: Sequence[dict[str, Any]], seed: int | None) -> dict[str, Any]:
        """What a request says besides the conversation. The interface takes no seed."""
        settings = self._settings
        reasons = is_reasoning(self.model) or settings.reasoning_effort not in (None, "none")
        optional = {
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            self.limit_name: settings.max_tokens,
            "reasoning": {"effort": settings.reasoning_effort} if settings.reasoning_effort else None,
            # Models that do not reason refuse the field.
            "include": ["reasoning.encrypted_content"] if reasons else None,
            "parallel_tool_calls": settings.parallel_tool_calls if tools else None,
            "tools": [{"type": "function", "strict": False, **each} for each in tools] or None,
        }
        given = {name: value for name, value in optional.items() if value is not None}
        return {"model": self.model, "store": False, **given, **settings.extra_body}

    def wire(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """As input items."""
        items: list[dict[str, Any]] = []
        for message in messages:
            if message["role"] == "tool":
                output = {"call_id": message["tool_call_id"], "output": message["content"]}
                items.append({"type": "function_call_output", **output})
            elif "items" in message:
                items.extend(message["items"])
            else:
                items.append({"role": message["role"], "content": message["content"]})
        return items

    def read(self, answer: dict[str, Any]) -> Reply:
        """What an answer says."""
        if answer.get("status") == "failed":
            raise Garbled(f"its answer failed: {(answer.get('error') or {}).get('message') or 'it does not say why'}")
        texts, calls = [], []
        for number, item in enumerate(answer["output"]):
            if item["type"] == "function_call":
                call_id = item.get("call_id") or f"call_{number}"
                calls.append(Call(call_id, item.get("name") or "", item.get("arguments") or ""))
            elif item["type"] == "message":
                texts += [part.get("text") or part.get("refusal") or "" for part in item["content"]]
        usage = answer.get("usage") or {}
        return Reply(
            text="\n".join(filter(None, texts)),
            calls=tuple(calls),
            cut_off=(answer.get("incomplete_details") or {}).get("reason") == "max_output_tokens",
            tokens_in=usage.get("input_tokens") or 0,
            tokens_cached=(usage.get("input_tokens_details") or {}).get("cached_tokens") or 0,
            tokens_out=usage.get("output_tokens") or 0,
            tokens_reasoning=(usage.get("output_tokens_details") or {}).get("reasoning_tokens") or 0,
            items=tuple(answer["output"]),
        )
