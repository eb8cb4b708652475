"""Exports episodes and steps unchanged: full records, tables, rewards, predictions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from stackrank.agents.llm.endpoints.recorded import MAIN, token_ids
from stackrank.flows.runs.afterwards.export.source import Source
from stackrank.terms import Verdict

_SHOWN = ("index", "tool", "arguments", "thought", "observation", "ok", "milestones", "distance", "distance_lines")


def jsonl(source: Source) -> Iterator[dict[str, Any]]:
    """Yield each episode with all its steps, as `trace --json` prints it."""
    for row, steps in source.played(all_columns=True):
        yield {**row, "scope": source.sentence, "steps": steps}


def csv(source: Source) -> Iterator[dict[str, Any]]:
    """Yield each episode without its steps."""
    for row in source.rows():
        yield {**row, "scope": source.sentence}


def steps(source: Source) -> Iterator[dict[str, Any]]:
    """Yield each action and its observation, with the reward and the token data from the model's endpoint.

    `reward`: 1.0 if this step ends a resolved episode, else 0.0; None in an episode without a verdict.
    """
    for row, played in source.played(exchanges=True):
        columns = source.about(row)
        reward = {Verdict.RESOLVED: 1.0, Verdict.UNRESOLVED: 0.0}.get(row["verdict"])
        for previous, step in pairwise(played):
            last = step is played[-1]
            tests = step["state"].get("tests") or {}
            yield {
                **columns,
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


def predictions(source: Source) -> Iterator[dict[str, Any]]:
    """Yield predictions in the form that SWE-bench's own harness grades. Episodes without a verdict have none."""
    several = source.run["spec"].get("attempts", 1) > 1
    for row in source.whole():
        if row["verdict"] in (Verdict.RESOLVED, Verdict.UNRESOLVED):
            name = f"{row['entrant']} #{row['attempt']}" if several else row["entrant"]
            yield {"instance_id": row["task"], "model_name_or_path": name, "model_patch": row["diff"]}
