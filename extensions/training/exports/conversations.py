"""Exports what was sent to models: unchanged requests, and conversations for training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NotRequired, TypedDict

from stackrank.agents.episode.step import Usage
from stackrank.agents.llm.endpoints.recorded_requests import RecordedRequest, recorded_requests
from stackrank.extensions.training.exports.chat_form import (
    ChatMessage,
    reasoning_of,
    to_chat_messages,
    to_chat_tools,
    to_typed_messages,
)
from stackrank.extensions.training.exports.rendered import render
from stackrank.extensions.training.exports.tokens import TokenSequence, recorded_sequences
from stackrank.extensions.training.exports.turns import answer_of, went_back
from stackrank.flows.runs.afterwards.export.exporter import Exporter
from stackrank.flows.runs.afterwards.export.source import About, ExportSource, Row


class RequestRecord(About):
    """A request to a model and its answer."""

    step: int
    """The step for which the model was asked."""
    conversation: str
    """`main`, or the name of another conversation of the episode."""
    api: str
    """`chat`, `responses` or `messages`: the form of the request and the answer."""
    request: dict[str, Any]
    """As it was sent, without `stream`."""
    answer: dict[str, Any]
    """As it was received."""
    reasoning: str
    usage: Usage
    scope: str
    """What the run covers, as the leaderboards say it."""


class ChatAnswer(TypedDict):
    """An answer that the model gave in a conversation, and what it cost."""

    message: int
    """Its place among the messages, from 0."""
    step: int
    """The step for which the model gave it."""
    reasoning_content: NotRequired[str]
    """What the model thought, if that is not in the message since it was not sent back."""
    tokens_in: NotRequired[int]
    tokens_out: NotRequired[int]
    cost_usd: NotRequired[float | None]


class ChatMetadata(About):
    """Where a conversation comes from."""

    scope: str
    """What the run covers, as the leaderboards say it."""
    segment: int
    """Counts the records of an episode, since a new one begins where the history was cut."""
    investigation: NotRequired[int]
    """The step that asked for the investigation that this conversation is."""
    source: str
    """`recorded`, or `rendered` if no model played the episode."""
    conversation: str
    """`main`, or the name of another conversation of the episode."""
    api: str


class ChatRecord(TypedDict):
    """A conversation for training."""

    messages: list[ChatMessage]
    tools: NotRequired[Any]
    """The tools of Chat Completions."""
    parallel_tool_calls: NotRequired[bool]
    answers: list[ChatAnswer]
    """Which messages the model wrote: train on these."""
    tokens: NotRequired[list[TokenSequence]]
    """The conversation as tokens, if the endpoint reported them."""
    metadata: ChatMetadata


def requests(source: ExportSource) -> Iterator[dict[str, Any]]:
    """Yield every request, byte for byte except for `stream` and secrets, with its answer."""
    for row, steps in source.played(exchanges=True):
        fields = source.about(row)
        for question in recorded_requests(steps):
            yield {
                **fields,
                "step": question.step,
                "conversation": question.conversation,
                "api": question.api,
                "request": question.body,
                "answer": question.answer,
                "reasoning": question.reasoning,
                "usage": question.usage,
                "scope": source.sentence,
            }


def chat(source: ExportSource) -> Iterator[dict[str, Any]]:
    """Yield each conversation as the model saw it before its last answer, with that answer.

    Where the history was cut, a new record begins. An episode that no model played is rendered as if one had.
    """
    for row, steps in source.played(exchanges=True):
        metadata = {**source.about(row), "scope": source.sentence}
        question_segments = segments(steps)
        if not question_segments:
            yield from render(source, row, steps, metadata)
        investigations = {step["index"]: step["investigation"] for step in steps}
        for number, segment in enumerate(question_segments):
            place = investigations[segment[0].step]
            investigation = {} if place is None else {"investigation": place}
            yield conversation(segment, {**metadata, "segment": number, **investigation})


def segments(steps: Sequence[Row]) -> list[list[RecordedRequest]]:
    """Split the questions of an episode into segments of one conversation; each question continues the one before it.

    A question that does not contain the previous answer, because that was not accepted, begins a new segment.
    """
    open_ones: dict[str, list[list[RecordedRequest]]] = {}
    for question in recorded_requests(steps):
        conversation_segments = open_ones.setdefault(question.conversation, [])
        if (
            question.cut
            or not conversation_segments
            or not to_chat_messages(question.api, went_back(conversation_segments[-1][-1], question))
        ):
            conversation_segments.append([])
        conversation_segments[-1].append(question)
    return [segment for conversation_segments in open_ones.values() for segment in conversation_segments]


def messages_of(segment: Sequence[RecordedRequest]) -> list[dict[str, Any]]:
    """Return the segment up to and including its last answer, as Chat Completions messages."""
    last = segment[-1]
    return [*to_chat_messages(last.api, last.full_messages), answer_of(last)]


def conversation(segment: Sequence[RecordedRequest], metadata: dict[str, Any]) -> dict[str, Any]:
    """Make a record of `chat`. `answers` says which messages the model wrote in this segment, and what each cost."""
    last = segment[-1]
    messages = messages_of(segment)
    answers = []
    for question in segment:
        place = len(to_chat_messages(question.api, question.full_messages))
        answer: dict[str, Any] = {"message": place, "step": question.step}
        if question.reasoning and not reasoning_of(messages[place]):
            answer["reasoning_content"] = question.reasoning
        answers.append(answer | {name: question.usage[name] for name in ("tokens_in", "tokens_out", "cost_usd")})
    document: dict[str, Any] = {"messages": to_typed_messages(messages)}
    if "tools" in last.parameters:
        document["tools"] = to_chat_tools(last.api, last.parameters["tools"])
        document["parallel_tool_calls"] = last.parameters.get("parallel_tool_calls", True)
    source = {"source": "recorded", "conversation": last.conversation, "api": last.api, "model": last.model}
    sequences = recorded_sequences(segment)
    tokens = {"tokens": sequences} if sequences else {}
    return document | {"answers": answers, **tokens, "metadata": {**metadata, **source}}


CHAT = Exporter(
    chat, ChatRecord, "a conversation as the model had it, with its last answer: messages, tools, what each answer cost"
)
REQUESTS = Exporter(requests, RequestRecord, "a request to a model as it was sent, and the answer as it came")
