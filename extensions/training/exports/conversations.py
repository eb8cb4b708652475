"""Exports what was sent to models: unchanged requests, and conversations for training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from stackrank.agents.llm.endpoints.as_chat import as_chat, chat_tools, reasoning_of
from stackrank.agents.llm.endpoints.recorded import Question, questions
from stackrank.extensions.training.exports.rendered import render
from stackrank.extensions.training.exports.turns import answer_of, went_back
from stackrank.flows.runs.afterwards.export.exporter import Exporter
from stackrank.flows.runs.afterwards.export.source import ExportSource, Row


def requests(source: ExportSource) -> Iterator[dict[str, Any]]:
    """Yield every request, byte for byte except for `stream` and secrets, with its answer."""
    for row, steps in source.played(exchanges=True):
        about = source.about(row)
        for each in questions(steps):
            yield {
                **about,
                "step": each.step,
                "conversation": each.conversation,
                "api": each.api,
                "request": each.body,
                "answer": each.answer,
                "reasoning": each.reasoning,
                "usage": each.usage,
                "scope": source.sentence,
            }


def chat(source: ExportSource) -> Iterator[dict[str, Any]]:
    """Yield each conversation as the model saw it before its last answer, with that answer.

    Where the history was cut, a new record begins. An episode that no model played is rendered as if one had.
    """
    for row, steps in source.played(exchanges=True):
        about = {**source.about(row), "scope": source.sentence}
        asked = segments(steps)
        if not asked:
            yield from render(source, row, steps, about)
        within = {step["index"]: step["investigation"] for step in steps}
        for number, segment in enumerate(asked):
            place = within[segment[0].step]
            inside = {} if place is None else {"investigation": place}
            yield conversation(segment, {**about, "segment": number, **inside})


def segments(steps: Sequence[Row]) -> list[list[Question]]:
    """Split the questions of an episode into segments of one conversation; each question continues the one before it.

    A question that does not contain the previous answer, because that was not accepted, begins a new segment.
    """
    open_ones: dict[str, list[list[Question]]] = {}
    for each in questions(steps):
        own = open_ones.setdefault(each.conversation, [])
        if each.cut or not own or not as_chat(each.api, went_back(own[-1][-1], each)):
            own.append([])
        own[-1].append(each)
    return [segment for own in open_ones.values() for segment in own]


def messages_of(segment: Sequence[Question]) -> list[dict[str, Any]]:
    """Return the segment up to and including its last answer, as Chat Completions messages."""
    last = segment[-1]
    return [*as_chat(last.api, last.spoken), answer_of(last)]


def conversation(segment: Sequence[Question], about: dict[str, Any]) -> dict[str, Any]:
    """Make a record of `chat`. `answers` says which messages the model wrote in this segment, and what each cost."""
    last = segment[-1]
    messages = messages_of(segment)
    answers = []
    for each in segment:
        place = len(as_chat(each.api, each.spoken))
        answer: dict[str, Any] = {"message": place, "step": each.step}
        if each.reasoning and not reasoning_of(messages[place]):
            answer["reasoning_content"] = each.reasoning
        answers.append(answer | {name: each.usage[name] for name in ("tokens_in", "tokens_out", "cost_usd")})
    document: dict[str, Any] = {"messages": messages}
    if "tools" in last.parameters:
        document["tools"] = chat_tools(last.api, last.parameters["tools"])
        document["parallel_tool_calls"] = last.parameters.get("parallel_tool_calls", True)
    source = {"source": "recorded", "conversation": last.conversation, "api": last.api, "model": last.model}
    return document | {"answers": answers, "metadata": {**about, **source}}


CHAT = Exporter(
    chat,
    "a conversation as the model had it, with its last answer: messages, tools, what each answer cost",
    optional=("tools", "parallel_tool_calls"),
)
REQUESTS = Exporter(requests, "a request to a model as it was sent, and the answer as it came")
