"""The questions to models for a step and their answers, as a conversation and as they went over the wire."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from stackrank import wording
from stackrank.dashboard.trace.texts import said
from stackrank.wording import count_of

MOST_EARLIER = 200
"""The most messages before the new ones that are sent to the browser; the newest are kept."""


def questions(exchanges: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each question for the browser: its new messages, the earlier ones, and both sides as they were sent."""
    return [_question(exchange, number) for number, exchange in enumerate(exchanges, 1)]


def _question(exchange: Mapping[str, Any], number: int) -> dict[str, Any]:
    usage = exchange.get("usage") or {}
    heading = [f"Question {number}", str(exchange.get("model", "")), str(exchange.get("conversation", ""))]
    tokens = f"{usage.get('tokens_in', 0)} tokens in, {usage.get('tokens_out', 0)} out"
    heading.append(f"about {tokens}, which the endpoint did not count" if usage.get("estimated") else tokens)
    request = exchange.get("request")
    messages, new = _conversation(request)
    return {
        "about": wording.visible(" · ".join(filter(None, heading))),
        "left_out": wording.visible(_left_out(request if isinstance(request, dict) else {})),
        "reasoning": said(str(exchange["reasoning"])) if exchange.get("reasoning") else None,
        "new": [_message(message) for message in messages[new:]],
        "earlier": [_message(message) for message in messages[max(0, new - MOST_EARLIER) : new]],
        "earlier_total": new,
        "answer": said(_json(exchange.get("answer"))),
        "request": said(_json(request)),
    }


def _conversation(request: Any) -> tuple[list[dict[str, Any]], int]:
    """Return the messages, and the index of the first one since the model last spoke."""
    listed = request.get("messages") if isinstance(request, dict) else None
    messages = [message for message in listed if isinstance(message, dict)] if isinstance(listed, list) else []
    spoke = [at for at, message in enumerate(messages) if message.get("role") == "assistant"]
    return messages, spoke[-1] + 1 if spoke else 0


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    calls = message.get("tool_calls")
    return {
        "role": wording.visible(wording.words(str(message.get("role", "")))),
        "text": said("\n".join(str(text) for text in texts if text is not None)),
        "calls": said(_json(calls)) if calls else None,
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)


def _left_out(request: Mapping[str, Any]) -> str:
    """Say in a sentence which parts of the conversation the model no longer saw; empty if it saw all."""
    if "history_cut_to_tokens" not in request:
        return ""
    messages = json.dumps(request.get("messages"))
    omission = re.search(r"\[([\d,]+) earlier turns? of this conversation omitted\]", messages)
    turns = int(omission[1].replace(",", "")) if omission else 0
    cut = len(re.findall(r"\[\.\.\. [\d,]+ characters? of this observation omitted", messages))
    parts = [f"{count_of(turns, 'earlier turn is', 'earlier turns are')} left out"] * bool(turns)
    parts += [f"{cut} observation{'s are' if cut > 1 else ' is'} cut in the middle"] * bool(cut)
    details = f": {', '.join(parts)}" if parts else ""
    return f"The conversation was cut to about {request['history_cut_to_tokens']} tokens for this question{details}."
