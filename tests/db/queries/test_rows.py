"""The types of rows say what queries give: no name more, none less."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_type_hints

import pytest
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.queries.boards.standings import FailureBreakdown, RankedStanding, Standing
from stackrank.db.queries.catalogue import BenchmarkRow, TaskRow, TaskSummary
from stackrank.db.queries.comparisons.compare import ComparedTask, Comparison
from stackrank.db.queries.episodes.episodes import EpisodeRow, EpisodeSummary
from stackrank.db.queries.runs import RunProgress, RunRow, RunSummary
from tests.db.storage import old

GIVEN: dict[type, Callable[[Engine], Any]] = {
    BenchmarkRow: lambda engine: queries.benchmark(engine, 1),
    TaskSummary: lambda engine: queries.tasks(engine, 1)[0],
    TaskRow: lambda engine: queries.task(engine, 1),
    RunProgress: lambda engine: queries.progress(engine, old.FINISHED),
    RunSummary: lambda engine: queries.runs(engine)[0],
    RunRow: lambda engine: queries.run(engine, old.FINISHED),
    EpisodeSummary: lambda engine: queries.episodes(engine)[0],
    EpisodeRow: lambda engine: queries.episode(engine, 1),
    RankedStanding: lambda engine: queries.leaderboard(engine)[0],
    Standing: lambda engine: queries.compare(engine, "oracle (debug)", "repair (debug)")["first"],
    FailureBreakdown: lambda engine: queries.failure_points(engine)[0],
    Comparison: lambda engine: queries.compare(engine, "oracle (debug)", "repair (debug)"),
    ComparedTask: lambda engine: queries.compare(engine, "oracle (debug)", "repair (debug)")["by_task"][0],
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return connect(old.restore(tmp_path_factory.mktemp("rows") / "stackrank.db"))


@pytest.mark.parametrize("kind", GIVEN, ids=lambda kind: kind.__name__)
def test_a_row_has_the_columns_of_its_type(engine: Engine, kind: type) -> None:
    assert set(GIVEN[kind](engine)) == set(get_type_hints(kind))
