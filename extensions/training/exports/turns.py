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
    incoming: list[dict[str, Any]]
    answer: dict[str, Any]
    """The answer, in the form in which the next question repeated it, if there was one."""


def conversations(steps: Iterable[Mapping[str, Any]]) -> dict[str, list[Turn]]:
    """Return the conversations of an episode by name, in the order in which they began. `steps`: with `exchanges`."""
    by_conversation: dict[str, list[RecordedRequest]] = {}
    for question in recorded_requests(steps):
        by_conversation.setdefault(question.conversation, []).append(question)
    return {name: list(_turns(sequence)) for name, sequence in by_conversation.items()}


def went_back(question: RecordedRequest, following: RecordedRequest) -> list[dict[str, Any]]:
    """Return the answer to a question as the next request repeats it, in the API's form.

    Empty if the next request has no answer in between: an agent may ask again without accepting an answer.
    """
    if following.cut:
        repeated = _last_said(following.messages)
        return [] if repeated == _last_said(question.messages) else repeated
    return list(takewhile(_is_said, following.messages[len(question.messages) :]))


def answer_of(question: RecordedRequest) -> dict[str, Any]:
    """Return the answer to a question as a message, which is empty if the answer cannot be expressed as one."""
    messages = to_chat_messages(question.api, question.answer_messages())
    return messages[0] if messages else {"role": "assistant", "content": ""}


def _turns(sequence: Sequence[RecordedRequest]) -> Iterator[Turn]:
    previous: list[dict[str, Any]] = []
    for question, following in zip(sequence, [*sequence[1:], None], strict=True):
        incoming = _tail(question.full_messages, by_model=False)
        repeated = went_back(question, following) if following else []
        answers = to_chat_messages(question.api, repeated)
        new = incoming[len(previous) :] if previous and incoming[: len(previous)] == previous else incoming
        yield Turn(
            question, to_chat_messages(question.api, new), answers[0] if len(answers) == 1 else answer_of(question)
        )
        previous = [] if repeated else incoming


def _last_said(wire: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return _tail(wire[: len(wire) - len(_tail(wire, by_model=False))], by_model=True)


def _tail(wire: Sequence[dict[str, Any]], *, by_model: bool) -> list[dict[str, Any]]:
    """Return the trailing parts of a conversation that the model said (`said`), or that it did not say."""
    start = len(wire)
    while start and _is_said(wire[start - 1]) is by_model:
        start -= 1
    return list(wire[start:])


def _is_said(part: Mapping[str, Any]) -> bool:
    role = part.get("role")
    return role == "assistant" if role else part.get("type") != "function_call_output"
