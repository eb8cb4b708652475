"""The Responses API of OpenAI, with nothing stored on the server.

The items of an answer (reasoning, calls, text) are sent back unchanged: reasoning models continue from their encrypted
reasoning, which has to be requested because of `store: false`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from stackrank.agents.episode.protocol import GaveUp
from stackrank.agents.llm.endpoints.endpoint import EMPTY_TEXT, WITHHELD, Endpoint, Message, Reply, count, count_in
from stackrank.agents.llm.endpoints.retries import REFUSALS
from stackrank.agents.llm.endpoints.transport import Garbled, make_failure
from stackrank.agents.llm.syntaxes.tool_call import ToolCall, make_sendable, read_call
from stackrank.terms import StopReason

_REASONING = re.compile(r"(^|/)(o\d|gpt-5|codex)")


_ENDS = ("response.completed", "response.incomplete", "response.failed")


def is_reasoning(model: str) -> bool:
    """Return whether OpenAI's model of this name reasons: o1, o3, o4-mini, gpt-5 and its successors, codex."""
    return _REASONING.search(model) is not None


class Responses(Endpoint):
    """The Responses API."""

    path, conversation_name, answer_name = "/responses", "input", "output"
    max_tokens_field = "max_output_tokens"
    default_fields = frozenset({"store", "include"})

    def parameters(self, tools: Sequence[dict[str, Any]], seed: int | None) -> dict[str, Any]:
        """Return the fields of a request other than the conversation. The API takes no seed."""
        settings = self.settings
        reasons = is_reasoning(self.model) or settings.reasoning_effort not in (None, "none")
        optional = {
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            self.max_tokens_field: settings.max_tokens,
            "reasoning": {"effort": settings.reasoning_effort} if settings.reasoning_effort else None,
            # Models that do not reason refuse the field.
            "include": ["reasoning.encrypted_content"] if reasons else None,
            "parallel_tool_calls": settings.parallel_tool_calls if tools else None,
            "tools": [{"type": "function", "strict": False, **tool} for tool in tools] or None,
        }
        set_parameters = {name: value for name, value in optional.items() if value is not None}
        return {"model": self.model, "store": False, **set_parameters, **settings.extra_body}

    @classmethod
    def wire(cls, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Return the messages as input items."""
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

    @classmethod
    def reply(cls, answer: dict[str, Any], verbatim: bool = True) -> Reply:
        """Parse an answer."""
        if answer.get("status") == "failed":
            error = answer.get("error") or {}
            reason = error.get("message") or "no reason given"
            if error.get("code") in REFUSALS:
                raise GaveUp(f"the endpoint refused the conversation ({reason})", StopReason.REFUSED)
            raise make_failure(error)
        calls: list[ToolCall] = []
        texts, thoughts, items = [], [], []
        for number, item in enumerate(answer["output"]):
            if item["type"] == "function_call":
                call = read_call(item, number, [call.id for call in calls], "call_id")
                calls.append(call)
                item = {**item, "call_id": call.id, **make_sendable(call)}
            elif item["type"] == "message":
                content = item["content"] or ()
                parts = [{"text": content}] if isinstance(content, str) else content
                texts += [part.get("text") or part.get("refusal") or "" for part in parts]
            elif item["type"] == "reasoning":
                thoughts += [part.get("text") or "" for part in (item.get("content") or item.get("summary") or ())]
            # Fields without a value are dropped: routers add some that the provider does not know.
            items.append({name: value for name, value in item.items() if value is not None})
        if items and items[-1]["type"] == "reasoning":
            # The API refuses reasoning that no other item follows.
            items.append({"role": "assistant", "content": EMPTY_TEXT})
        usage = answer.get("usage")
        tokens_in, tokens_cached = count_in(usage, "input_tokens")
        why_cut = (answer.get("incomplete_details") or {}).get("reason")
        text = "\n".join(filter(None, texts)) or (WITHHELD if why_cut == "content_filter" else "")
        return Reply(
            text=text,
            message={"role": "assistant", **({"items": items} if items else {"content": text or EMPTY_TEXT})},
            reasoning="\n".join(filter(None, thoughts)),
            calls=tuple(calls),
            cut_off=why_cut == "max_output_tokens",
            tokens_in=tokens_in,
            tokens_cached=tokens_cached,
            tokens_out=count(usage, "output_tokens"),
            tokens_reasoning=count(usage, "output_tokens_details", "reasoning_tokens"),
        )

    def with_text(self, message: Message, text: str) -> Message:
        """Return the model's message with this text and without tool calls; its reasoning stays."""
        items = [item for item in message.get("items", ()) if item.get("type", "message") != "function_call"]
        first = next((n for n, item in enumerate(items) if item.get("type", "message") == "message"), len(items))
        original = items[first] if first < len(items) else {"type": "message", "role": "assistant"}
        replaced = {**original, "content": [{"type": "output_text", "text": text or EMPTY_TEXT, "annotations": []}]}
        remaining = [item for item in items[first:] if item.get("type", "message") != "message"]
        return {"role": "assistant", "items": [*items[:first], replaced, *remaining]}

    def join_stream(self, events: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """Return a streamed answer from its events: the last one holds all of it, but some servers omit the items."""
        events = list(events)
        if error := next((event for event in events if event.get("type") == "error"), None):
            raise make_failure({name: value for name, value in error.items() if name != "type"})
        final_responses = [event["response"] for event in events if event.get("type") in _ENDS]
        items = [event["item"] for event in events if event.get("type") == "response.output_item.done"]
        if not final_responses:
            raise Garbled("its answer broke off: the stream ends without a final event")
        answer: dict[str, Any] = final_responses[-1]
        return answer if answer.get("output") else {**answer, "output": items}
