"""Renders episodes that no model played as conversations, so that a model can learn from people and known fixes."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stackrank.agents.episode.workspace import shows_failure
from stackrank.agents.llm import prompting
from stackrank.agents.llm.syntaxes.function_calling import FunctionCalling
from stackrank.env.tools import Tool, ToolSet
from stackrank.extensions.training.exports.chat_form import to_typed_messages
from stackrank.flows.runs.afterwards.export.source import ExportSource, Row
from stackrank.flows.runs.playing.trajectories import recorded_tools
from stackrank.flows.runs.specification.spec import SpecError


def render(
    source: ExportSource, row: Row, steps: Sequence[Row], metadata: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the episode as a conversation, with the prompts and tools that the agent `llm` gives to a model by default.

    Yields nothing for an episode without actions. Raises SpecError if a tool no longer exists.
    """
    if len(steps) < 2:
        return
    spec = source.run["spec"]
    try:
        tools = recorded_tools(row["tools"], spec, steps[0]["state"])
    except ValueError as error:
        raise SpecError(f"episode {row['id']} cannot be exported as a conversation: {error}") from None
    ends = spec.get("ends_when_solved", True) and spec.get("shows_failing_test", True)
    limits = spec["steps"], spec.get("tokens")
    system, values, functions = _told(tools, limits, ends, shows_failure(steps[0]["state"]))
    task = prompting.render("task", **values, observation=steps[0]["observation"], listing=[], failing_file="")
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}, {"role": "user", "content": task}]
    for step in steps[1:]:
        messages += _turn(step)
    answers = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    yield {
        "messages": to_typed_messages(messages),
        "tools": functions,
        "parallel_tool_calls": False,
        "answers": [{"message": place, "step": step["index"]} for place, step in zip(answers, steps[1:], strict=True)],
        "metadata": {**metadata, "segment": 0, "source": "rendered", "conversation": "main", "api": "chat"},
    }


@functools.lru_cache(64)
def _told(
    tools: ToolSet, limits: tuple[int | None, int | None], ends_when_solved: bool, failure_shown: bool
) -> tuple[str, dict[str, Any], list[dict[str, Any]]]:
    """Return the system prompt, the values for other prompts, and the tools' functions. Many episodes share these."""
    described: Sequence[Tool] = [tools.find(name) for name in tools.tools]
    functions = [
        {"type": "function", "function": description} for description in FunctionCalling(described).describe_tools()
    ]
    max_steps, max_tokens = limits
    about_run = {
        "max_steps": max_steps,
        "max_tokens": max_tokens,
        "ends_when_solved": ends_when_solved,
        "failure_shown": failure_shown,
    }
    values = {"tools": prompting.describe_tools(tools), "syntax": "", **about_run}
    return prompting.render("system", **values), values, functions


_WRITER = json.JSONEncoder(ensure_ascii=False)


def _turn(step: Row) -> list[dict[str, Any]]:
    """Return the messages of a step: what was said, and the observation."""
    if not step["tool"]:  # the output was not an action
        answer = {"role": "assistant", "content": step["thought"] or "(nothing)"}
        return [answer, {"role": "user", "content": step["observation"]}]
    name = f"call_{step['index']}"
    arguments = _WRITER.encode(step["arguments"])
    call = {"id": name, "type": "function", "function": {"name": step["tool"], "arguments": arguments}}
    answer = {"role": "assistant", "content": step["thought"] or None, "tool_calls": [call]}
    return [answer, {"role": "tool", "tool_call_id": name, "content": step["observation"]}]
