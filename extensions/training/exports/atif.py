"""Exports episodes as trajectories in ATIF 1.8, the format that Harbor and others read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from stackrank.agents.llm.endpoints.recorded_requests import MAIN
from stackrank.extensions.training.exports.chat_form import reasoning_of, to_chat_tools
from stackrank.extensions.training.exports.tokens import tokens_of
from stackrank.extensions.training.exports.turns import Turn, conversations
from stackrank.flows.runs.afterwards.export.exporter import Exporter
from stackrank.flows.runs.afterwards.export.source import ExportSource, Row
from stackrank.flows.runs.specification.spec import SpecError
from stackrank.storable import storable_json
from stackrank.terms import Verdict

VERSION = "ATIF-v1.8"


class TrajectoryRecord(TypedDict):
    """A trajectory; what its parts contain is defined by ATIF."""

    schema_version: str
    session_id: str
    trajectory_id: str
    agent: dict[str, Any]
    steps: list[dict[str, Any]]
    notes: str
    final_metrics: dict[str, Any]
    extra: dict[str, Any]
    """The episode, its reward, its milestones, and the scope of the run."""
    subagent_trajectories: NotRequired[list[dict[str, Any]]]
    """The other conversations of the episode."""


def atif(source: ExportSource) -> Iterator[dict[str, Any]]:
    """Yield each episode as a trajectory; its further conversations become subagents.

    The package `atif` checks each trajectory. Raises SpecError if it is not installed.
    """
    try:
        from atif import Trajectory
    except ImportError:
        raise SpecError("the format atif needs another package: run pip install 'stackrank[atif]'") from None
    for row, steps in source.played(exchanges=True, with_all_columns=True):
        if len(steps) > 1:
            document = _trajectory(source, row, steps)
            Trajectory.model_validate(document)
            yield document


def _trajectory(source: ExportSource, row: Row, steps: Sequence[Row]) -> dict[str, Any]:
    talks = conversations(steps)
    name = f"episode-{row['id']}"
    agent: dict[str, Any] = {"name": row["agent"], "version": row["agent_version"] or "unknown"}
    parts = {conversation: _conversation(turns) for conversation, turns in talks.items()}
    if parts:
        _last_words(parts, talks, steps)
    conversation_steps = parts or {"none": _played(steps)}
    documents: list[dict[str, Any]] = [
        {
            "schema_version": VERSION,
            "session_id": name,
            "trajectory_id": f"{name}-{conversation.replace(' ', '-')}" if number else name,
            "agent": {**agent, **_model(talks.get(conversation, ())), "extra": {"conversation": conversation}},
            "steps": [{"step_id": step_id, **step} for step_id, step in enumerate(part, 1)],
        }
        for number, (conversation, part) in enumerate(conversation_steps.items())
    ]
    root, *subagents = documents
    _refer(root, subagents)
    totals = {
        "total_prompt_tokens": row["tokens_in"],
        "total_completion_tokens": row["tokens_out"],
        "total_cached_tokens": row["tokens_cached"],
        "total_steps": len(root["steps"]),
    }
    if row["cost_usd"] is not None:
        totals["total_cost_usd"] = row["cost_usd"]
    verdict = {Verdict.RESOLVED: 1.0, Verdict.UNRESOLVED: 0.0}.get(row["verdict"])
    columns = ("stop_reason", "failure_point", "tools", "milestones")
    extra = {**source.about(row), "reward": verdict, **{conversation: row[conversation] for conversation in columns}}
    return {
        **root,
        "notes": "Totals are of the whole episode, subagents included; prompts of several conversations are in them.",
        "final_metrics": totals,
        "extra": {**extra, "scope": source.sentence},
        **({"subagent_trajectories": subagents} if subagents else {}),
    }


def _model(turns: Sequence[Turn]) -> dict[str, Any]:
    """Return what a trajectory says about the model of a conversation."""
    if not turns:
        return {}
    question = turns[-1].question
    tools = to_chat_tools(question.api, question.parameters.get("tools", ()))
    return {"model_name": question.model, **({"tool_definitions": tools} if tools else {})}


def _conversation(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Return the steps of a conversation: the messages to the model, and each answer with the results of its calls."""
    steps: list[dict[str, Any]] = []
    for turn in turns:
        for message in turn.incoming:
            text = _text(message.get("content"))
            if message["role"] == "tool" and any(step["source"] == "agent" for step in steps):
                _observe(steps, message["tool_call_id"], text)
            else:
                source = "system" if message["role"] in ("system", "developer") else "user"
                steps.append({"source": source, "message": text})
        steps.append(_answer(turn))
    return steps


def _observe(steps: list[dict[str, Any]], call_id: str | None, text: str, **extra: Any) -> None:
    """Add the result of a call to the last answer."""
    step = next(step for step in reversed(steps) if step["source"] == "agent")
    call_ids = {call["tool_call_id"] for call in step.get("tool_calls", ())}
    result = {"content": text, **({"source_call_id": call_id} if call_id in call_ids else {})}
    step.setdefault("observation", {"results": []})["results"].append({**result, **({"extra": extra} if extra else {})})


def _answer(turn: Turn) -> dict[str, Any]:
    question, message = turn.question, turn.answer
    usage, tokens = question.usage, tokens_of(question.answer)
    mask = tokens.pop("loss_mask", None)
    metrics = {
        "prompt_tokens": usage["tokens_in"],
        "completion_tokens": usage["tokens_out"],
        "cached_tokens": usage["tokens_cached"],
        **({} if usage["cost_usd"] is None else {"cost_usd": usage["cost_usd"]}),
        **tokens,
        **({} if mask is None else {"extra": {"loss_mask": mask}}),
    }
    reasoning = reasoning_of(message) or question.reasoning
    calls = [_call(call) for call in message.get("tool_calls") or ()]
    return {
        "source": "agent",
        "model_name": question.model,
        "message": _text(message.get("content")),
        **({"reasoning_content": reasoning} if reasoning else {}),
        **({"tool_calls": calls} if calls else {}),
        "metrics": metrics,
        "llm_call_count": 1,
        "extra": {"step": question.step, **({"history_cut": True} if question.cut else {})},
    }


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content)
    return content or ""


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    try:
        # An escape may stand for a character that no file can hold.
        arguments = storable_json(json.loads(function["arguments"]))
    except ValueError:
        arguments = None
    sound = isinstance(arguments, dict)
    return {
        "tool_call_id": call["id"],
        "function_name": function["name"],
        "arguments": arguments if sound else {},
        **({} if sound else {"extra": {"arguments": function["arguments"]}}),
    }


def _last_words(
    parts: Mapping[str, list[dict[str, Any]]], turns: Mapping[str, list[Turn]], steps: Sequence[Row]
) -> None:
    """Add the results of the last answer's calls, which were not sent to a model any more."""
    last = (
        next(exchange for step in reversed(steps) for exchange in reversed(step["exchanges"]))["conversation"] or MAIN
    )
    if last not in parts:  # somebody else's program recorded it, in its own form
        return
    ids = [call["tool_call_id"] for call in parts[last][-1].get("tool_calls", ())]
    for number, step in enumerate(steps[turns[last][-1].question.step :]):
        _observe(parts[last], ids[number] if number < len(ids) else None, step["observation"], told=False)


def _refer(root: dict[str, Any], subagents: Sequence[Mapping[str, Any]]) -> None:
    """Add a reference to each other conversation to the answer during which it began."""
    for subagent in subagents:
        began = next(step["extra"]["step"] for step in subagent["steps"] if step["source"] == "agent")
        earlier = [step for step in root["steps"] if step["source"] == "agent" and step["extra"]["step"] <= began]
        results = (earlier or [step for step in root["steps"] if step["source"] == "agent"])[-1].setdefault(
            "observation", {"results": []}
        )["results"]
        if not results:
            results.append({})
        results[-1].setdefault("subagent_trajectory_ref", []).append({"trajectory_id": subagent["trajectory_id"]})


def _played(steps: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the steps of an episode that no model played."""
    documents: list[dict[str, Any]] = [{"source": "user", "message": steps[0]["observation"], "extra": {"step": 0}}]
    for step in steps[1:]:
        name = f"call_{step['index']}"
        call = {"tool_call_id": name, "function_name": step["tool"], "arguments": step["arguments"]}
        result = {"content": step["observation"], **({"source_call_id": name} if step["tool"] else {})}
        documents.append(
            {
                "source": "agent",
                "message": step["thought"],
                **({"tool_calls": [call]} if step["tool"] else {}),
                "observation": {"results": [result]},
                "llm_call_count": 0,
                "extra": {"step": step["index"]},
            }
        )
    return documents


ATIF = Exporter(atif, TrajectoryRecord, "an episode as a trajectory of ATIF 1.8", file_name="trajectory_id")
