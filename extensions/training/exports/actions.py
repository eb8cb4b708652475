"""Exports each action with its observation, its reward, and what the model's endpoint reported about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NotRequired, TypedDict

from stackrank.agents.llm.endpoints.recorded_requests import MAIN
from stackrank.extensions.training.exports.tokens import tokens_of
from stackrank.flows.runs.afterwards.export.exporter import Exporter
from stackrank.flows.runs.afterwards.export.source import About, ExportSource
from stackrank.terms import Verdict


class StepAnswer(TypedDict):
    """An answer of a model."""

    conversation: str
    """`main`, or the name of another conversation of the episode."""
    model: str
    reasoning: str
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    prompt_token_ids: NotRequired[list[int]]
    completion_token_ids: NotRequired[list[int]]
    logprobs: NotRequired[list[float]]
    """For each token of the answer, the natural logarithm of its probability."""
    loss_mask: NotRequired[list[int]]
    """For each token of the prompt and the answer, 1 if the model sampled it."""


class ActionRecord(About):
    """An action and its observation."""

    observation_before: str
    """What the agent was told before it acted."""
    index: int
    """Which step of the episode it is; 1 is the first action."""
    tool: str
    """Empty: the answer of the model was no action."""
    arguments: dict[str, Any]
    thought: str
    observation: str
    ok: bool
    """Whether the tool could do what was asked."""
    milestones: list[str]
    """What this step was the first to reach."""
    distance: str
    """How near it came to the fault: `line`, `function`, `file` or `elsewhere`; empty: at no place in code."""
    distance_lines: int | None
    """Lines to the nearest faulty line, in the same file."""
    investigation: int | None
    """The step that asked for the investigation that this one is part of."""
    tests_passed: int | None
    tests_failed: int | None
    reward: float | None
    """1.0 if this step ends a resolved episode, else 0.0; null in an episode without a verdict."""
    done: bool
    """Whether it is the last step."""
    answers: list[StepAnswer]
    scope: str
    """What the run covers, as the leaderboards say it."""


def steps(source: ExportSource) -> Iterator[ActionRecord]:
    """Yield each action and its observation, with the reward and the token data from the model's endpoint."""
    for row, played in source.played(exchanges=True):
        fields = source.about(row)
        reward = {Verdict.RESOLVED: 1.0, Verdict.UNRESOLVED: 0.0}.get(row["verdict"])
        for previous, step in pairwise(played):
            last = step is played[-1]
            tests = tests_of(step["state"])
            yield {
                **fields,
                "observation_before": previous["observation"],
                "index": step["index"],
                "tool": step["tool"],
                "arguments": step["arguments"],
                "thought": step["thought"],
                "observation": step["observation"],
                "ok": step["ok"],
                "milestones": step["milestones"],
                "distance": step["distance"],
                "distance_lines": step["distance_lines"],
                "investigation": step["investigation"],
                "tests_passed": tests.get("passed"),
                "tests_failed": tests.get("failed"),
                "reward": reward if last or reward is None else 0.0,
                "done": last,
                "answers": [_answer(exchange) for exchange in step["exchanges"]],
                "scope": source.sentence,
            }


def tests_of(state: Mapping[str, Any]) -> Mapping[str, int]:
    """Return how many visible tests `passed` and `failed` in a step; empty if it did not run them."""
    return state["tests"] if state.get("kind") == "tests" and "tests" in state else {}


def _answer(exchange: dict[str, Any]) -> StepAnswer:
    usage = exchange["usage"]
    return {
        "conversation": exchange["conversation"] or MAIN,
        "model": exchange["model"],
        "reasoning": exchange["reasoning"],
        "tokens_in": usage["tokens_in"],
        "tokens_out": usage["tokens_out"],
        "cost_usd": usage["cost_usd"],
        **tokens_of(exchange["answer"]),  # type: ignore[typeddict-item]
    }


STEPS = Exporter(steps, ActionRecord, "an action and its observation, with reward, reasoning and tokens")
