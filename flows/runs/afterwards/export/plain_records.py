"""Exports episodes unchanged: full records, tables, predictions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypedDict

from stackrank.db.queries.episodes.episodes import EpisodeRow, EpisodeSummary
from stackrank.db.queries.episodes.steps import PlainStep
from stackrank.flows.runs.afterwards.export.source import ExportSource
from stackrank.terms import Verdict


class EpisodeRecord(EpisodeRow):
    """An episode with its steps, as `trace --json` prints it."""

    steps: list[PlainStep]  # type: ignore[misc]  # as in `trace --json`, the steps themselves take their number's place
    """Index 0 is the reset, and what the agent was told at the beginning."""
    scope: str
    """What the run covers, as the leaderboards say it."""


class EpisodeLine(EpisodeSummary):
    """An episode without its steps."""

    scope: str
    """What the run covers, as the leaderboards say it."""


class Prediction(TypedDict):
    """A prediction as SWE-bench's harness reads it."""

    instance_id: str
    model_name_or_path: str
    """The entrant, and the attempt if the run has several."""
    model_patch: str


def jsonl(source: ExportSource) -> Iterator[dict[str, Any]]:
    """Yield each episode with all its steps, as `trace --json` prints it."""
    for row, steps in source.played(with_all_columns=True):
        yield {**row, "scope": source.sentence, "steps": steps}


def csv(source: ExportSource) -> Iterator[dict[str, Any]]:
    """Yield each episode without its steps."""
    for row in source.rows():
        yield {**row, "scope": source.sentence}


def predictions(source: ExportSource) -> Iterator[Prediction]:
    """Yield predictions in the form that SWE-bench's own harness grades. Episodes without a verdict have none."""
    several = source.run["spec"].get("attempts", 1) > 1
    for row in source.whole():
        if row["verdict"] in (Verdict.RESOLVED, Verdict.UNRESOLVED):
            name = f"{row['entrant']} #{row['attempt']}" if several else row["entrant"]
            yield {"instance_id": row["task"], "model_name_or_path": name, "model_patch": row["diff"]}
