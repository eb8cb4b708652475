"""Exports each action with its observation, its reward, and what the model's endpoint reported about it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from stackrank.agents.llm.endpoints.recorded_requests import MAIN, token_ids
from stackrank.flows.runs.afterwards.export.exporter import Exporter
from stackrank.flows.runs.afterwards.export.source import ExportSource
from stackrank.terms import Verdict

_SHOWN = ("index", "tool", "arguments", "thought", "observation", "ok", "milestones", "distance", "distance_lines")


def steps(source: ExportSource) -> Iterator[dict[str, Any]]:
    """Yield each action and its observation, with the reward and the token data from the model's endpoint.

    `reward`: 1.0 if this step ends a resolved episode, else 0.0; None in an episode without a verdict.
    """
    for row, played in source.played(exchanges=True):
        fields = source.about(row)
        reward = {Verdict.RESOLVED: 1.0, Verdict.UNRESOLVED: 0.0}.get(row["verdict"])
        for previous, step in pairwise(played):
            last = step is played[-1]
            tests = step["state"].get("tests") or {}
            yield {
                **fields,
                "observation_before": previous["observation"],
                **{name: step[name] for name in _SHOWN},
                "investigation": step["investigation"],
                "tests_passed": tests.get("passed"),
                "tests_failed": tests.get("failed"),
                "reward": reward if last or reward is None else 0.0,
                "done": last,
                "answers": [_answer(exchange) for exchange in step["exchanges"]],
                "scope": source.sentence,
            }


def _answer(exchange: dict[str, Any]) -> dict[str, Any]:
    usage = {name: exchange["usage"][name] for name in ("tokens_in", "tokens_out", "cost_usd")}
    return {
        "conversation": exchange["conversation"] or MAIN,
        "model": exchange["model"],
        "reasoning": exchange["reasoning"],
        **usage,
        **token_ids(exchange["answer"]),
    }


STEPS = Exporter(steps, "an action and its observation, with reward, reasoning and tokens")
