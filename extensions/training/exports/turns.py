"""Splits a conversation into turns, as if its history had never been cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from stackrank.agents.llm.endpoints.recorded_requests import RecordedRequest, recorded_requests
from stackrank.extensions.training.exports.chat_form import to_chat_messages


@dataclass(frozen=True, slots=True)
class Turn:
    """What was new in a question, and the answer, as Chat Completions messages."""

    question: RecordedRequest
    heard: list[dict[str, Any]]
    said: dict[str, Any]
    """The answer, in the form in which the next question repeated it, if there was one."""


def conversations(steps: Iterable[Mapping[str, Any]]) -> dict[str, list[Turn]]:
    """Return the conversations of an episode by name, in the order in which they began. `steps`: with `exchanges`."""
    asked: dict[str, list[RecordedRequest]] = {}
    for each in recorded_requests(steps):
        asked.setdefault(each.conversation, []).append(each)
    return {name: list(_turns(own)) for name, own in asked.items()}


def went_back(question: RecordedRequest, following: RecordedRequest) -> list[dict[str, Any]]:
    """Return the answer to a question as the next request repeats it, in the API's form.

    Empty if the next request has no answer in between: an agent may ask again without accepting an answer.
    """
    if following.cut:
        back = _last_said(following.messages)
        return [] if back == _last_said(question.messages) else back
    return list(takewhile(_is_said, following.messages[len(question.messages) :]))


def answer_of(question: RecordedRequest) -> dict[str, Any]:
    """Return the answer to a question as a message, which is empty if the answer cannot be expressed as one."""
    said = to_chat_messages(question.api, question.answer_messages())
    return said[0] if said else {"role": "assistant", "content": ""}


def _turns(asked: Sequence[RecordedRequest]) -> Iterator[Turn]:
    known: list[dict[str, Any]] = []
    for question, following in zip(asked, [*asked[1:], None], strict=True):
        heard = _tail(question.full_messages, said=False)
        back = went_back(question, following) if following else []
        said = to_chat_messages(question.api, back)
        new = heard[len(known) :] if known and heard[: len(known)] == known else heard
        yield Turn(question, to_chat_messages(question.api, new), said[0] if len(said) == 1 else answer_of(question))
        known = [] if back else heard


def _last_said(wire: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return _tail(wire[: len(wire) - len(_tail(wire, said=False))], said=True)


def _tail(wire: Sequence[dict[str, Any]], *, said: bool) -> list[dict[str, Any]]:
    """Return the trailing parts of a conversation that the model said (`said`), or that it did not say."""
    start = len(wire)
    while start and _is_said(wire[start - 1]) is said:
        start -= 1
    return list(wire[start:])


def _is_said(part: Mapping[str, Any]) -> bool:
    role = part.get("role")
    return role == "assistant" if role else part.get("type") != "function_call_output"
