"""The closed vocabularies are defined once and displayed completely."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from stackrank.dashboard.charts.failures import _POINTS
from stackrank.db.models.runs import Episode
from stackrank.flows.runs.afterwards.html_report import _COLORS
from stackrank.terms import UNKNOWN, FailurePoint, Milestone, RunStatus, StopReason, Verdict

ROOT = Path(__file__).parents[2]


def test_every_failure_point_has_a_colour_in_the_report_and_in_the_figures() -> None:
    assert set(_COLORS) == {Verdict.RESOLVED, *FailurePoint}
    assert set(_POINTS) == {UNKNOWN, *FailurePoint}
    assert len(set(_POINTS.values())) == len(_POINTS), "told apart by colour and pattern"


def test_every_milestone_has_its_column_in_order() -> None:
    assert [name for name in Episode.model_fields if name.startswith("at_")] == [f"at_{name}" for name in Milestone]


def test_limit_stop_reasons_and_ended_run_states() -> None:
    assert [str(reason) for reason in StopReason if reason.is_limit] == [
        "step_limit", "token_limit", "cost_limit", "time_limit", "context_limit",
    ]  # fmt: skip
    assert [str(status) for status in RunStatus if status.ended] == ["finished", "cancelled", "failed"]


@pytest.mark.parametrize("room", ["env", "agents", "db", "flows", "dashboard"])
def test_failure_points_and_stop_reasons_are_listed_once(room: str) -> None:
    """A term that is an ordinary word too (`cancelled`, `solved`) may stand in a text; these mean nothing else."""
    telling = {str(term) for term in (*FailurePoint, *StopReason) if "_" in term}
    copies = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for path in sorted((ROOT / room).rglob("*.py"))
        if not {"bugs", "migrations"} & set(path.parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in telling
    ]
    assert not copies
