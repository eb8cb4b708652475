"""The Chat Completions API, as OpenAI and compatible servers speak it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from stackrank.agents.llm.endpoints.endpoint import EMPTY_TEXT, WITHHELD, Endpoint, Message, Reply, count, count_in
from stackrank.agents.llm.endpoints.transport import Garbled, make_failure
from stackrank.agents.llm.repairs.pieces import merge_piece
from stackrank.agents.llm.syntaxes.tool_call import ToolCall, make_sendable, read_call

_KNOWN = ("role", "content", "tool_calls")
_CUT_OFF = ("length", "max_tokens", "model_length", "model_context_window_exceeded")
_BROKEN_OFF = ("error", "network_error", "insufficient_system_resource")
"""Finish reasons of OpenRouter, Z.AI and DeepSeek that mean that the server failed, not that the model stopped."""
_GROWING = ("token_ids", "logprobs")
"""Fields outside the message that the pieces of a stream continue, if the server was asked for them."""


class ChatCompletions(Endpoint):
    """The Chat Completions API."""

    path, conversation_name, answer_name = "/chat/completions", "messages", "choices"
    stream_options: ClassVar = {"stream_options": {"include_usage": True}}

    @property
    def max_tokens_field(self) -> str:
        """The new name for OpenAI, whose newer models refuse the old one; other servers do not know the new name."""
        return "max_completion_tokens" if self.settings.is_openai else "max_tokens"

    def parameters(self, tools: Sequence[dict[str, Any]], seed: int | None) -> dict[str, Any]:
        """Return the fields of a request other than the conversation."""
        settings = self.settings
        optional = {
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "seed": seed,
            self.max_tokens_field: settings.max_tokens,
            "reasoning_effort": settings.reasoning_effort,
            "parallel_tool_calls": settings.parallel_tool_calls if tools else None,
            "tools": [{"type": "function", "function": tool} for tool in tools] or None,
        }
        set_parameters = {name: value for name, value in optional.items() if value is not None}
        return {"model": self.model, **set_parameters, **settings.extra_body}

    @classmethod
    def wire(cls, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Return the messages unchanged: they are kept in this form."""
        return list(messages)

    @classmethod
    def reply(cls, answer: dict[str, Any], verbatim: bool = True) -> Reply:
        """Parse an answer."""
        choice = answer["choices"][0]
        finish_reason = str(choice.get("finish_reason") or "")
        if choice.get("error") or finish_reason in _BROKEN_OFF:
            raise make_failure(choice.get("error") or finish_reason)
        usage, filtered = (
            answer.get("usage"),
            finish_reason.startswith("content_filter") or finish_reason == "sensitive",
        )
        source = choice.get("message") or {} if filtered else choice["message"]
        text = _text(source.get("content")) or source.get("refusal") or (WITHHELD if filtered else "")
        calls: list[ToolCall] = []
        sendable_calls = []
        for number, tool_call in enumerate(_tool_calls(source)):
            call = read_call(tool_call, number, [call.id for call in calls])
            calls.append(call)
            function = tool_call.get("function") if verbatim else None
            sendable_function = {**(function if isinstance(function, dict) else {}), **make_sendable(call)}
            extra = tool_call if verbatim else {}
            sendable_calls.append(
                {**extra, "id": call.id, "type": extra.get("type") or "function", "function": sendable_function}
            )
        # Fields without a value are dropped: servers refuse some that they send, such as an empty list of calls.
        # The other fields go back in their original order.
        message = {
            name: value
            for name, value in _without_proxy_fields(source).items()
            if name == "content" or value not in (None, [])
        }
        if not verbatim:
            message = {name: value for name, value in message.items() if name in _KNOWN}
        message["role"] = "assistant"
        # Servers expect the null or the empty text that they sent; some that are strict about fields expect a text.
        empty_content = "" if not verbatim or source.get("content") == "" else None
        message["content"] = source.get("content") or (empty_content if calls else text or EMPTY_TEXT)
        if calls:
            message["tool_calls"] = sendable_calls
            message.pop("function_call", None)
        tokens_in, tokens_cached = count_in(usage, "prompt_tokens")
        tokens_out, tokens_reasoning = _count_completion(usage)
        return Reply(
            text=text,
            message=message,
            reasoning=_reasoning(_without_proxy_fields(source)),
            calls=tuple(calls),
            cut_off=finish_reason in _CUT_OFF,
            tokens_in=tokens_in,
            tokens_cached=tokens_cached,
            tokens_out=tokens_out,
            tokens_reasoning=tokens_reasoning,
        )

    def with_text(self, message: Message, text: str) -> Message:
        """Return the model's message with this text and without tool calls; its reasoning stays."""
        fields = {name: value for name, value in message.items() if name != "tool_calls"}
        return {**fields, "content": text or EMPTY_TEXT}

    def join_stream(self, events: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """Assemble a streamed answer from its events by joining the deltas of its message."""
        answer: dict[str, Any] = {"choices": [{"message": {}}]}
        choice = answer["choices"][0]
        said_so_far: dict[str, Any] = {}
        for event in events:
            if event.get("object") == "error":  # vLLM
                raise make_failure(event)
            answer |= {name: value for name, value in event.items() if name != "choices" and value is not None}
            for piece in event.get("choices") or ():
                merge_piece(choice["message"], piece.get("delta") or {})
                fields = {name: value for name, value in piece.items() if name != "delta" and value is not None}
                merge_piece(choice, {name: fields.pop(name) for name in _GROWING if name in fields})
                said_so_far = fields.pop("message", None) or said_so_far
                choice |= fields
        choice["message"] = choice["message"] or said_so_far
        if not choice["message"]:
            raise LookupError("no piece of a message")
        if not choice.get("finish_reason") and not answer.get("usage"):
            raise Garbled("its answer broke off: the stream ends without a finish reason")
        for call in choice["message"].get("tool_calls") or ():
            call.pop("index", None)  # it belongs to the stream, not to the call
        if choice["message"].get("content") == "":
            choice["message"]["content"] = None  # streams begin with an empty text, whatever follows
        return answer


def _tool_calls(message: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """Return the calls of a message; old servers send a single one in a field of its own."""
    calls = message.get("tool_calls") or ()
    single = message.get("function_call")
    return [{"function": single}] if not calls and isinstance(single, dict) else calls


def _without_proxy_fields(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without what only LiteLLM's proxy adds: providers refuse fields that they do not know.

    The proxy moves `reasoning_details` into its own fields, from where they would not get back to the provider.
    """
    added = message.get("provider_specific_fields")
    if not isinstance(added, dict):
        return message
    provider_fields = {name: value for name, value in added.items() if value is not None}
    details = provider_fields.pop("reasoning_details", message.get("reasoning_details"))
    return {**message, "reasoning_details": details, "provider_specific_fields": provider_fields or None}


def _text(content: Any) -> str:
    """Return the text of a message; some servers send it as a list of parts."""
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if isinstance(part.get("text"), str))
    if content is not None and not isinstance(content, str):
        raise TypeError("the content of a message is a text")
    return content or ""


def _reasoning(message: dict[str, Any]) -> str:
    """Return the reasoning that servers show: DeepSeek, Kimi and vLLM in one field, OpenRouter in a list."""
    for name in ("reasoning_content", "reasoning"):
        if message.get(name) and isinstance(message[name], str):
            return str(message[name])
    details, content = message.get("reasoning_details"), message.get("content")
    parts = [part for part in details if isinstance(part, dict)] if isinstance(details, list) else []
    if not parts and isinstance(content, list):  # Mistral puts it among the parts of the text
        parts = [{"text": _text(part["thinking"])} for part in content if part.get("thinking")]
    return "".join(str(part.get("text") or part.get("summary") or "") for part in parts)


def _count_completion(usage: Any) -> tuple[int, int]:
    """Return the tokens of an answer and how many of them are thoughts, which xAI and Gemini add only to the total."""
    visible, thought = count(usage, "completion_tokens"), count(usage, "completion_tokens_details", "reasoning_tokens")
    uncounted = count(usage, "total_tokens") - count(usage, "prompt_tokens") - visible
    if uncounted > 0 and uncounted == (thought or uncounted):
        return visible + uncounted, uncounted
    return visible, thought
