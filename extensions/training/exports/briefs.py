"""Exports briefs with their outcomes: training data for the small model that looks for information."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from stackrank.agents.llm.endpoints.as_chat import as_chat, chat_tools
from stackrank.agents.llm.endpoints.recorded import APIS, Question, questions
from stackrank.agents.llm.seeker import Ask, Brief, SeekerSettings, read_brief
from stackrank.agents.llm.syntaxes.syntax import BadCall
from stackrank.agents.llm.syntaxes.text import FencedText
from stackrank.agents.llm.syntaxes.tool_calling import ToolCalling
from stackrank.db import queries
from stackrank.env.tools.base import Described
from stackrank.flows.runs.afterwards.export.exporter import Exporter
from stackrank.flows.runs.afterwards.export.source import ExportSource, Row
from stackrank.terms import Verdict

_BRIEF, _ASK = Brief(0, 0), Ask()


def seeker(source: ExportSource) -> Iterator[dict[str, Any]]:
    """Yield each brief: the conversation that led to it, whether it led to a fix, and what it cost.

    These are briefs from episodes that the agent `seeker` played. `led_to_fix`: the episode is resolved, and its last
    edit followed this brief. `read`: the coder was asked after the brief; an episode may end before that. Refused
    briefs are left out.
    """
    configs = {each["id"]: each["config"] for each in queries.entrants(source.engine)}
    for row, steps in source.played(exchanges=True, whole=True):
        asked = list(questions(steps))
        found = list(_briefs(asked, _limits(configs[row["entrant_id"]])))
        ends = [*(place for place, *_ in found[1:]), len(asked)][: len(found)]
        edits = [step["index"] for step in steps if step["ok"] and step["state"].get("diff")]
        before = -1
        for number, ((place, (text, files), question), end) in enumerate(zip(found, ends, strict=True), 1):
            brief, last = asked[place], steps[-1]["index"] + 1
            until = asked[end].step if end < len(asked) else last
            own = [index for index in edits if brief.step < index <= until]
            resolved = {Verdict.RESOLVED: True, Verdict.UNRESOLVED: False}.get(row["verdict"])
            yield {
                **source.about(row),
                "seeker_model": brief.model,
                "statement": row["statement"],
                "number": number,
                "question": question,
                "brief": text,
                "files": files,
                "messages": as_chat(brief.api, [*brief.messages, *brief.answered()]),
                "tools": chat_tools(brief.api, brief.parameters.get("tools", ())),
                "read": any(each.conversation == "coder" for each in asked[place + 1 : end]),
                "resolved": resolved,
                "led_to_fix": resolved and bool(own) and own[-1] == edits[-1],
                "edits": len(own),
                **_tests(steps, brief.step, until),
                "seeker": _cost(each for each in asked[before + 1 : place + 1] if each.conversation == "seeker"),
                "coder": _cost(each for each in asked[place + 1 : end] if each.conversation == "coder"),
                "scope": source.sentence,
            }
            before = place


def _limits(config: Mapping[str, Any]) -> SeekerSettings:
    """Return the limits on the entrant's briefs; its other settings may be from another version."""
    limits = {name: config[name] for name in ("brief_chars", "brief_files") if name in config}
    return SeekerSettings.model_validate({"seeker_model": "any", **limits})


def _briefs(
    asked: Sequence[Question], settings: SeekerSettings
) -> Iterator[tuple[int, tuple[str, list[str]], str | None]]:
    """Yield the accepted briefs: position of the answer, text and files, and the coder's question that it answers."""
    question = None
    followed = [*pairwise(each.conversation for each in asked), ("", "")]
    for place, (each, (_, following)) in enumerate(zip(asked, followed, strict=False)):
        if each.conversation == "coder":
            question = (_call(each, _ASK) or {}).get("question", question)
        elif each.conversation == "seeker" and following != "seeker" and (arguments := _call(each, _BRIEF)):
            try:
                brief = read_brief(arguments, settings)
            except ValueError:
                continue
            yield place, brief, question
            question = None


def _call(question: Question, tool: Described) -> dict[str, str] | None:
    """Return the arguments with which an answer calls a tool, as text; None if it does not call it."""
    syntax = (ToolCalling if question.parameters.get("tools") else FencedText)([tool])
    for call in syntax.calls(APIS[question.api].reply(question.answer)):
        if call.name == tool.name:
            try:
                action, _ = syntax.read(call)
            except BadCall:
                continue
            return {name: str(value).strip() for name, value in action.arguments.items()}
    return None


def _tests(steps: Sequence[Row], after: int, until: int) -> dict[str, int | None]:
    """Return how many tests passed and failed when they were last run after a brief."""
    runs = [step["state"]["tests"] for step in steps if after < step["index"] <= until and step["state"].get("tests")]
    last = runs[-1] if runs and isinstance(runs[-1], dict) else {}
    return {"tests_passed": last.get("passed"), "tests_failed": last.get("failed")}


def _cost(asked: Iterator[Question]) -> dict[str, Any]:
    usages = [each.usage for each in asked]
    costs = [usage["cost_usd"] for usage in usages]
    return {
        "questions": len(usages),
        "tokens_in": sum(usage["tokens_in"] for usage in usages),
        "tokens_out": sum(usage["tokens_out"] for usage in usages),
        "cost_usd": None if None in costs else sum(costs),
    }


SEEKER = Exporter(
    seeker,
    "a brief of the agent seeker: the conversation before it, whether a fix came of it, what it cost",
)
