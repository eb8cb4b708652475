"""The Chat Completions API, as OpenAI and compatible servers speak it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from stackrank.agents.llm.endpoint import (
    NOTHING,
    WITHHELD,
    Call,
    Endpoint,
    Message,
    Reply,
    as_text,
    count,
    sound,
)

_TEXT = {"type": "text"}
_KNOWN = ("role", "content", "tool_calls")
_REPEATED = ("role", "type", "index", "id", "format")
"""What pieces of a stream repeat, rather than go on with."""
_GROWING = ("token_ids", "logprobs")
"""What pieces of a stream go on with beside the message, where the server is asked for it."""


class ChatCompletions(Endpoint):
    """The Chat Completions API."""

    path, conversation_name, answer_name = "/chat/completions", "messages", "choices"
    stream_options: ClassVar = {"stream_options": {"include_usage": True}}

    @property
    def limit_name(self) -> str:
        """OpenAI's newer models refuse the old name; other servers do not know the new one."""
        return "max_completion_tokens" if self.settings.is_openai else "max_tokens"

    def parameters(self, tools: Sequence[dict[str, Any]], seed: int | None) -> dict[str, Any]:
        """What a request says besides the conversation."""
        settings = self.settings
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

    @classmethod
    def wire(cls, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Return the messages unchanged: they are kept in this form."""
        return list(messages)

    @classmethod
    def reply(cls, answer: dict[str, Any], verbatim: bool = True) -> Reply:
        """What an answer says."""
        choice = answer["choices"][0]
        usage, filtered = answer.get("usage"), choice.get("finish_reason") == "content_filter"
        said = choice.get("message") or {} if filtered else choice["message"]
        text = _text(said.get("content")) or said.get("refusal") or (WITHHELD if filtered else "")
        calls, mended_calls = [], []
        for number, each in enumerate(said.get("tool_calls") or ()):
            function = each.get("function") or {"name": each.get("type")}
            call = Call(
                str(each.get("id") or f"call_{number}"),
                str(function.get("name") or ""),
                as_text(function.get("arguments")),
            )
            calls.append(call)
            function = function if verbatim else {}
            mended = {**function, **sound(call)}
            extra = each if verbatim else {}
            kind = extra.get("type") or "function"
            mended_calls.append({**extra, "id": call.id, "type": kind, "function": mended})
        # Fields without a value say nothing, and servers refuse some that they send, such as an empty list of calls.
        # The others go back in the order in which they came.
        message = {name: value for name, value in _flat(said).items() if name == "content" or value not in (None, [])}
        if not verbatim:
            message = {name: value for name, value in message.items() if name in _KNOWN}
        message["role"] = "assistant"
        # Servers want null or the empty text back, as they had it; some that are strict about fields want a text.
        nothing = "" if not verbatim or said.get("content") == "" else None
        message["content"] = said.get("content") or (nothing if calls else text or NOTHING)
        if calls:
            message["tool_calls"] = mended_calls
        return Reply(
            text=text,
            message=message,
            reasoning=_reasoning(_flat(said)),
            calls=tuple(calls),
            cut_off=choice.get("finish_reason") == "length",
            tokens_in=count(usage, "prompt_tokens"),
            tokens_cached=count(usage, "prompt_tokens_details", "cached_tokens"),
            tokens_out=count(usage, "completion_tokens"),
            tokens_reasoning=count(usage, "completion_tokens_details", "reasoning_tokens"),
        )

    def retold(self, message: Message, text: str) -> Message:
        """What the model said with this text and without tool calls; its reasoning stays."""
        kept = {name: value for name, value in message.items() if name != "tool_calls"}
        return {**kept, "content": text or NOTHING}

    def joined(self, events: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """The answer that came in these pieces: the deltas of its message put together."""
        answer: dict[str, Any] = {"choices": [{"message": {}}]}
        choice = answer["choices"][0]
        for event in events:
            answer |= {name: value for name, value in event.items() if name != "choices" and value is not None}
            for piece in event.get("choices") or ():
                join(choice["message"], piece.get("delta") or {})
                rest = {name: value for name, value in piece.items() if name != "delta" and value is not None}
                join(choice, {name: rest.pop(name) for name in _GROWING if name in rest})
                choice |= rest
        if not choice["message"]:
            raise LookupError("no piece of a message")
        for call in choice["message"].get("tool_calls") or ():
            call.pop("index", None)  # it is the stream's
        if choice["message"].get("content") == "":
            choice["message"]["content"] = None  # streams begin with it, whatever follows
        return answer


def _flat(said: dict[str, Any]) -> dict[str, Any]:
    """A message without what only LiteLLM's proxy adds to it: providers refuse fields that they do not know.

    It moves `reasoning_details` among its own fields, from where they would not reach the provider again.
    """
    added = said.get("provider_specific_fields")
    if not isinstance(added, dict):
        return said
    kept = {name: value for name, value in added.items() if value is not None}
    details = kept.pop("reasoning_details", said.get("reasoning_details"))
    return {**said, "reasoning_details": details, "provider_specific_fields": kept or None}


def join(whole: dict[str, Any], piece: dict[str, Any]) -> None:
    """Add a piece of what comes as a stream: texts and lists go on, and what has an `index` goes on at that index."""
    for name, value in piece.items():
        before = whole.get(name)
        if isinstance(before, list) and isinstance(value, str):
            value = [_TEXT | {"text": value}] if value else None
        elif isinstance(before, str) and isinstance(value, list):
            before = whole[name] = [_TEXT | {"text": before}] if before else []
        if before is None or name in _REPEATED:
            whole[name] = copy.deepcopy(value) if value is not None else before
        elif isinstance(before, str) and isinstance(value, str):
            # Some servers repeat a call's name with each piece of its arguments.
            whole[name] = before if name == "name" and before == value else before + value
        elif isinstance(before, dict) and isinstance(value, dict):
            join(before, value)
        elif not isinstance(before, list) or not isinstance(value, list):
            whole[name] = before if value is None else value
        if isinstance(value, list) and value:
            whole[name] = _join_lists(before or [], value)


def _join_lists(whole: list[Any], pieces: list[Any]) -> list[Any]:
    places = {each.get("index"): each for each in whole if isinstance(each, dict) and "index" in each}
    for piece in pieces:
        place = places.get(piece.get("index")) if isinstance(piece, dict) and "index" in piece else None
        if place is None and whole and _goes_on(whole[-1], piece):
            place = whole[-1]
        if place is not None:
            join(place, piece)
        else:
            whole.append(copy.deepcopy(piece))
            if isinstance(piece, dict) and "index" in piece:
                places[piece["index"]] = whole[-1]
    return whole


def _goes_on(part: Any, piece: Any) -> bool:
    """Whether a piece without an index belongs to the part before: texts go on, and thoughts until they are signed."""
    if not isinstance(part, dict) or not isinstance(piece, dict) or {"index", "id"} & {*part, *piece}:
        return False
    kind = part.get("type")
    signed = part.get("signature") and piece.get("thinking")
    return kind == piece.get("type") and (kind == "text" or (kind == "thinking" and not signed))


def _text(content: Any) -> str:
    """The text of a message, which some servers send as a list of parts."""
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if isinstance(part.get("text"), str))
    if content is not None and not isinstance(content, str):
        raise TypeError("the content of a message is a text")
    return content or ""


def _reasoning(said: dict[str, Any]) -> str:
    """What servers show of a model's thoughts: DeepSeek, Kimi and vLLM in one field, OpenRouter in a list."""
    for name in ("reasoning_content", "reasoning"):
        if isinstance(said.get(name), str):
            return str(said[name])
    details = said.get("reasoning_details")
    parts = [each for each in details if isinstance(each, dict)] if isinstance(details, list) else []
    return "".join(str(each.get("text") or each.get("summary") or "") for each in parts)
