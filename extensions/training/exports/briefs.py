"""Exports briefs with their outcomes: training data for the small model that looks for information."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypedDict

from stackrank.agents.llm.endpoints.recorded_requests import APIS, RecordedRequest, recorded_requests
from stackrank.agents.llm.seeker import Ask, Brief, SeekerSettings, read_brief
from stackrank.agents.llm.syntaxes.function_calling import FunctionCalling
from stackrank.agents.llm.syntaxes.syntax import BadCall
from stackrank.agents.llm.syntaxes.text import FencedText
from stackrank.db import queries
from stackrank.env.tools.base import Described
from stackrank.extensions.training.exports.actions import tests_of
from stackrank.extensions.training.exports.chat_form import (
    ChatMessage,
    to_chat_messages,
    to_chat_tools,
    to_typed_messages,
)
from stackrank.flows.runs.afterwards.export.exporter import Exporter
from stackrank.flows.runs.afterwards.export.source import About, ExportSource, Row
from stackrank.terms import Verdict


class BriefCost(TypedDict):
    """What a conversation cost."""

    questions: int
    """Requests to the model."""
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    """Null: a price is unknown."""


class BriefRecord(About):
    """A brief, how it came about, and what came of it."""

    seeker_model: str
    statement: str
    """The statement of the task."""
    number: int
    """Counts the briefs of the episode, from 1."""
    question: str | None
    """What the coder had asked, if the brief answers it."""
    brief: str
    files: list[str]
    """The files that the brief names."""
    messages: list[ChatMessage]
    """The conversation of the seeker, with the brief."""
    tools: Any
    """The tools of Chat Completions."""
    read: bool
    """Whether the coder was asked after the brief; an episode may end before that."""
    resolved: bool | None
    """Null: the episode has no verdict."""
    led_to_fix: bool | None
    """Whether the episode is resolved, and its last edit followed this brief."""
    edits: int
    """How many edits followed this brief."""
    tests_passed: int | None
    tests_failed: int | None
    seeker: BriefCost
    """What the brief cost."""
    coder: BriefCost
    """What the work that followed cost."""
    scope: str
    """What the run covers, as the leaderboards say it."""


_BRIEF, _ASK = Brief(0, 0), Ask()


def seeker(source: ExportSource) -> Iterator[dict[str, Any]]:
    """Yield each brief: the conversation that led to it, whether it led to a fix, and what it cost.

    These are briefs from episodes that the agent `seeker` played. `led_to_fix`: the episode is resolved, and its last
    edit followed this brief. `read`: the coder was asked after the brief; an episode may end before that. Refused
    briefs are left out.
    """
    configs = {entrant["id"]: entrant["config"] for entrant in queries.entrants(source.engine)}
    for row, steps in source.played(exchanges=True, with_all_columns=True):
        exchanges = list(recorded_requests(steps))
        briefs = list(_briefs(exchanges, _limits(configs[row["entrant_id"]])))
        ends = [*(place for place, *_ in briefs[1:]), len(exchanges)][: len(briefs)]
        edits = [step["index"] for step in steps if step["ok"] and step["state"].get("diff")]
        last_place = -1
        for number, ((place, (text, files), question), end) in enumerate(zip(briefs, ends, strict=True), 1):
            brief, last = exchanges[place], steps[-1]["index"] + 1
            until = exchanges[end].step if end < len(exchanges) else last
            brief_edits = [index for index in edits if brief.step < index <= until]
            resolved = {Verdict.RESOLVED: True, Verdict.UNRESOLVED: False}.get(row["verdict"])
            yield {
                **source.about(row),
                "seeker_model": brief.model,
                "statement": row["statement"],
                "number": number,
                "question": question,
                "brief": text,
                "files": files,
                "messages": to_typed_messages(to_chat_messages(brief.api, [*brief.messages, *brief.answer_messages()])),
                "tools": to_chat_tools(brief.api, brief.parameters.get("tools", ())),
                "read": any(exchange.conversation == "coder" for exchange in exchanges[place + 1 : end]),
                "resolved": resolved,
                "led_to_fix": resolved and bool(brief_edits) and brief_edits[-1] == edits[-1],
                "edits": len(brief_edits),
                **_tests(steps, brief.step, until),
                "seeker": _cost(
                    exchange for exchange in exchanges[last_place + 1 : place + 1] if exchange.conversation == "seeker"
                ),
                "coder": _cost(exchange for exchange in exchanges[place + 1 : end] if exchange.conversation == "coder"),
                "scope": source.sentence,
            }
            last_place = place


def _limits(config: Mapping[str, Any]) -> SeekerSettings:
    """Return the limits on the entrant's briefs; its other settings may be from another version."""
    limits = {name: config[name] for name in ("brief_chars", "brief_files") if name in config}
    return SeekerSettings.model_validate({"seeker_model": "any", **limits})


def _briefs(
    exchanges: Sequence[RecordedRequest], settings: SeekerSettings
) -> Iterator[tuple[int, tuple[str, list[str]], str | None]]:
    """Yield the accepted briefs: position of the answer, text and files, and the coder's question that it answers."""
    question = None
    followed = [*pairwise(exchange.conversation for exchange in exchanges), ("", "")]
    for place, (exchange, (_, following)) in enumerate(zip(exchanges, followed, strict=False)):
        if exchange.conversation == "coder":
            question = (_call(exchange, _ASK) or {}).get("question", question)
        elif exchange.conversation == "seeker" and following != "seeker" and (arguments := _call(exchange, _BRIEF)):
            try:
                brief = read_brief(arguments, settings)
            except ValueError:
                continue
            yield place, brief, question
            question = None


def _call(question: RecordedRequest, tool: Described) -> dict[str, str] | None:
    """Return the arguments with which an answer calls a tool, as text; None if it does not call it."""
    syntax = (FunctionCalling if question.parameters.get("tools") else FencedText)([tool])
    for call in syntax.find_calls(APIS[question.api].reply(question.answer)):
        if call.name == tool.name:
            try:
                action, _ = syntax.read_action(call)
            except BadCall:
                continue
            return {name: str(value).strip() for name, value in action.arguments.items()}
    return None


def _tests(steps: Sequence[Row], first: int, until: int) -> dict[str, int | None]:
    """Return how many tests passed and failed when they were last run after a brief."""
    runs = [tests for step in steps if first < step["index"] <= until and (tests := tests_of(step["state"]))]
    last = runs[-1] if runs else {}
    return {"tests_passed": last.get("passed"), "tests_failed": last.get("failed")}


def _cost(exchanges: Iterator[RecordedRequest]) -> dict[str, Any]:
    usages = [exchange.usage for exchange in exchanges]
    costs = [usage["cost_usd"] for usage in usages]
    return {
        "questions": len(usages),
        "tokens_in": sum(usage["tokens_in"] for usage in usages),
        "tokens_out": sum(usage["tokens_out"] for usage in usages),
        "cost_usd": None if None in costs else sum(costs),
    }


SEEKER = Exporter(
    seeker,
    BriefRecord,
    "a brief of the agent seeker: the conversation before it, whether a fix came of it, what it cost",
)
