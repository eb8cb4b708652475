"""The types of rows say what queries give: no name more, none less."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_type_hints

import pytest
from sqlalchemy import Engine

from stackrank.db import queries, rows
from stackrank.db.connection.engine import connect
from tests.db import released

GIVEN: dict[type, Callable[[Engine], Any]] = {
    rows.Benchmark: lambda engine: queries.benchmark(engine, 1),
    rows.TaskListed: lambda engine: queries.tasks(engine, 1)[0],
    rows.Task: lambda engine: queries.task(engine, 1),
    rows.Progress: lambda engine: queries.progress(engine, released.FINISHED),
    rows.RunListed: lambda engine: queries.runs(engine)[0],
    rows.Run: lambda engine: queries.run(engine, released.FINISHED),
    rows.EpisodeListed: lambda engine: queries.episodes(engine)[0],
    rows.Episode: lambda engine: queries.episode(engine, 1),
    rows.Ranked: lambda engine: queries.leaderboard(engine)[0],
    rows.Standing: lambda engine: queries.compare(engine, "oracle (debug)", "repair (debug)")["first"],
    rows.Failures: lambda engine: queries.failure_points(engine)[0],
    rows.Comparison: lambda engine: queries.compare(engine, "oracle (debug)", "repair (debug)"),
    rows.ComparedTask: lambda engine: queries.compare(engine, "oracle (debug)", "repair (debug)")["by_task"][0],
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return connect(released.restore(tmp_path_factory.mktemp("rows") / "stackrank.db"))


@pytest.mark.parametrize("kind", GIVEN, ids=lambda kind: kind.__name__)
def test_a_row_has_the_columns_of_its_type(engine: Engine, kind: type) -> None:
    assert set(GIVEN[kind](engine)) == set(get_type_hints(kind))
