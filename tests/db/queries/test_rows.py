"""The types of rows have exactly the fields that the queries return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_type_hints

import pytest
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.queries.boards.abilities import AbilityBoard, AbilityRow, CalibrationRow, DifficultyRow, LevelRow
from stackrank.db.queries.boards.failures import FailureBreakdown
from stackrank.db.queries.boards.grid import GridCell, GridRow
from stackrank.db.queries.boards.reliability import BudgetCurve, ReliabilityRow
from stackrank.db.queries.boards.scope_description import ScopeDescription, ScopeRun
from stackrank.db.queries.boards.standings import Board, RankedStanding, Standing
from stackrank.db.queries.boards.task_board import TaskRate
from stackrank.db.queries.boards.tool_sets import ToolSetRow, ToolUseRow
from stackrank.db.queries.catalogue import BenchmarkRow, TaskRow, TaskSummary
from stackrank.db.queries.comparisons.compare import ComparedTask, Comparison
from stackrank.db.queries.comparisons.effort import EffortComparison
from stackrank.db.queries.comparisons.gate import GateReport
from stackrank.db.queries.episodes.episodes import EpisodeRow, EpisodeSummary
from stackrank.db.queries.episodes.funnel import FunnelRow
from stackrank.db.queries.episodes.steps import StepRow
from stackrank.db.queries.episodes.time_spent import TimeBreakdown
from stackrank.db.queries.health import HealthReport
from stackrank.db.queries.runs import RunProgress, RunRow, RunState, RunSummary
from tests.dashboard.seed import Seeded
from tests.support.databases import Databases


def compare(engine: Engine, seeded: Seeded) -> Comparison:
    first, second, *_ = seeded.entrants.values()
    return queries.compare(engine, first, second)


def side_by_side(engine: Engine, seeded: Seeded) -> list[ToolSetRow]:
    return queries.side_by_side(engine, queries.tool_sets(engine))


def gate(engine: Engine, seeded: Seeded) -> GateReport:
    reference, candidate, *_ = seeded.entrants
    return queries.gate(engine, reference, candidate, 0.1)


def effort(engine: Engine, seeded: Seeded) -> list[EffortComparison]:
    first, second, *_ = seeded.entrants.values()
    return queries.effort(engine, [(first, second)])


QUERIES: dict[type, Callable[[Engine, Seeded], Any]] = {
    BenchmarkRow: lambda engine, _: queries.benchmark(engine, 1),
    TaskSummary: lambda engine, _: queries.tasks(engine, 1)[0],
    TaskRow: lambda engine, _: queries.task(engine, 1),
    RunProgress: lambda engine, seeded: queries.progress(engine, seeded.runs[0]),
    RunSummary: lambda engine, _: queries.runs(engine)[0],
    RunRow: lambda engine, seeded: queries.run(engine, seeded.runs[0]),
    RunState: lambda engine, seeded: queries.run_state(engine, seeded.runs[0]),
    HealthReport: lambda engine, _: queries.health(engine),
    EpisodeSummary: lambda engine, _: queries.episodes(engine)[0],
    EpisodeRow: lambda engine, seeded: queries.episode(engine, seeded.episodes[0]),
    TimeBreakdown: lambda engine, seeded: queries.time_spent(engine, seeded.runs[0])[0],
    FunnelRow: lambda engine, _: queries.funnel(engine)[0],
    Board: lambda engine, _: queries.board(engine),
    ScopeDescription: lambda engine, _: queries.describe_scope(engine),
    ScopeRun: lambda engine, _: queries.describe_scope(engine)["runs"][0],
    RankedStanding: lambda engine, _: queries.leaderboard(engine)[0],
    Standing: lambda engine, seeded: compare(engine, seeded)["first"],
    FailureBreakdown: lambda engine, _: queries.failure_points(engine)[0],
    ReliabilityRow: lambda engine, _: queries.reliability(engine)[0],
    BudgetCurve: lambda engine, _: queries.budget_curves(engine)[0],
    TaskRate: lambda engine, _: queries.task_rates(engine)[0],
    GridRow: lambda engine, _: queries.grid(engine)[0],
    GridCell: lambda engine, _: queries.grid(engine)[0]["cells"][0],
    ToolUseRow: lambda engine, _: queries.tool_use(engine)[0],
    ToolSetRow: lambda engine, seeded: side_by_side(engine, seeded)[0],
    AbilityBoard: lambda engine, _: queries.abilities(engine),
    AbilityRow: lambda engine, _: queries.abilities(engine)["entrants"][0],
    DifficultyRow: lambda engine, _: queries.abilities(engine)["tasks"][0],
    LevelRow: lambda engine, _: queries.abilities(engine)["levels"][0],
    CalibrationRow: lambda engine, _: queries.abilities(engine)["calibration"][0],
    Comparison: compare,
    ComparedTask: lambda engine, seeded: compare(engine, seeded)["by_task"][0],
    EffortComparison: lambda engine, seeded: effort(engine, seeded)[0],
    GateReport: gate,
}


@pytest.fixture(scope="module")
def seeded(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> tuple[Engine, Seeded]:
    url, contents = databases.seeded(tmp_path_factory.mktemp("rows") / "stackrank.db")
    return connect(url), contents


@pytest.mark.parametrize("row_type", QUERIES, ids=lambda row_type: row_type.__name__)
def test_a_row_has_the_columns_of_its_type(seeded: tuple[Engine, Seeded], row_type: type) -> None:
    assert set(QUERIES[row_type](*seeded)) == set(get_type_hints(row_type))


def test_a_step_has_exchanges_only_on_request(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    columns = set(get_type_hints(StepRow))
    assert set(queries.steps(engine, contents.episodes[0])[0]) == columns - {"exchanges"}
    assert set(queries.steps(engine, contents.episodes[0], exchanges=True)[0]) == columns
