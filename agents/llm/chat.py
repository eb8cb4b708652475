"""The Chat Completions API of OpenAI, or of any server that speaks it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agents.llm.endpoint import Call, Endpoint, Message, Reply


class ChatCompletions(Endpoint):
    """The Chat Completions API."""

    path, conversation_name = "/chat/completions", "messages"

    @property
    def limit_name(self) -> str:
        """OpenAI's newer models refuse the old name; other servers do not know the new one."""
        return "max_completion_tokens" if self._settings.is_openai else "max_tokens"

    def parameters(self, tools: Sequence[dict[str, Any]], seed: int | None) -> dict[str, Any]:
        """What a request says besides the conversation."""
        settings = self._settings
        optional = {
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "seed": seed,
            self.limit_name: settings.max_tokens,
            "reasoning_effort": settings.reasoning_effort,
            "parallel_tool_calls": settings.parallel_tool_calls if tools else None,
            "tools": [{"type": "function", "function": each} for each in tools] or None,
        }
        given = {name: value for name, value in optional.items() if value is not None}
        return {"model": self.model, **given, **settings.extra_body}

    def wire(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """As they are."""
        return list(messages)

    def read(self, answer: dict[str, Any]) -> Reply:
        """What an answer says."""
        choice = answer["choices"][0]
        message, usage = choice["message"], answer.get("usage") or {}
        calls = []
        for number, each in enumerate(message.get("tool_calls") or ()):
            function = each.get("function") or {"name": each.get("type")}
            call_id = each.get("id") or f"call_{number}"
            arguments = function.get("arguments") or ""
            if not isinstance(arguments, str):  # some servers send them as they are
                arguments = json.dumps(arguments)
            calls.append(Call(call_id, function.get("name") or "", arguments))
        return Reply(
            text=_text(message.get("content")) or message.get("refusal") or "",
            calls=tuple(calls),
            cut_off=choice.get("finish_reason") == "length",
            tokens_in=usage.get("prompt_tokens") or 0,
            tokens_cached=(usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
            tokens_out=usage.get("completion_tokens") or 0,
            tokens_reasoning=(usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0,
        )


def _text(content: Any) -> str:
    """Text, of which some servers make a list of parts."""
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if isinstance(part.get("text"), str))
    return content or ""
