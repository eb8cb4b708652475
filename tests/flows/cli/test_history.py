"""Many runs in history: lists stay quick because they ask few questions, each by an index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, event, insert, text

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.transactions import EPISODE, RUN
from stackrank.db.models.runs import Episode, Run
from stackrank.db.queries import Scope
from stackrank.db.writes.store import Store
from stackrank.host.wall_clock import now
from tests.fixtures.calls import CommandLine

pytestmark = pytest.mark.slow

RUNS, TASKS = 200, 20


@pytest.fixture
def history(database: str) -> Engine:
    engine = connect(database)
    store = Store(engine)
    tasks = [{"name": f"t{n}", "digest": f"d{n}"} for n in range(TASKS)]
    benchmark = store.save_benchmark(name="bugs", digest="b", license="", source="", tasks=tasks)
    entrants = [store.save_entrant(digest=f"e{n}", name=f"e{n}", agent="a") for n in range(2)]
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        moment = now()
        run = Run(name="", benchmark_id=benchmark.id, leaderboard="nightly", owner="ada", tags=["nightly"])
        row = run.model_dump(exclude={"id"}) | {"status": "finished", "created_at": moment, "started_at": moment}
        connection.execute(
            insert(RUN), [row | {"id": n, "name": f"nightly-{n}", "ended_at": moment} for n in range(1, RUNS + 1)]
        )
        base = Episode(run_id=0, task_id=0, entrant_id=0).model_dump(exclude={"id"})
        base |= {"status": "done", "verdict": "resolved", "stop_reason": "solved", "diff": "x" * 2000}
        for run_id in range(1, RUNS + 1):
            cells = [(task, entrant) for task in benchmark.task_ids.values() for entrant in entrants]
            connection.execute(
                insert(EPISODE),
                [base | {"run_id": run_id, "task_id": task, "entrant_id": entrant} for task, entrant in cells],
            )
    return engine


@contextmanager
def statements(engine: Engine) -> Iterator[list[tuple[str, Any]]]:
    """What is asked of the database meanwhile."""
    executed: list[tuple[str, Any]] = []

    def hear(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.startswith("SELECT"):
            executed.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", hear)
    try:
        yield executed
    finally:
        event.remove(engine, "before_cursor_execute", hear)


def scans(engine: Engine, executed: list[tuple[str, Any]]) -> list[str]:
    """The tables of episodes that SQLite would read from end to end, without an index."""
    scans = []
    with engine.connect() as connection:
        for statement, parameters in executed:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            scans += [row.detail for row in plan if row.detail.startswith("SCAN episode")]
    return [detail for detail in scans if "USING" not in detail]


def test_the_list_of_runs_asks_little(history: Engine) -> None:
    with statements(history) as executed:
        rows = queries.runs(history, owner="ada", tags=["nightly"], limit=50)
    assert len(rows) == 50 and rows[0]["id"] == RUNS and rows[0]["done"] == 2 * TASKS
    assert len(executed) <= 2, "not a question for each run"
    assert scans(history, executed) == []
    with statements(history) as statements_of_more:
        assert len(queries.runs(history, limit=RUNS)) == RUNS
    assert len(statements_of_more) == len(executed)


@pytest.mark.parametrize("question", ["run", "progress", "episodes", "leaderboard", "regressions"])
def test_questions_about_one_run_read_that_run(history: Engine, question: str) -> None:
    with statements(history) as executed:
        if question == "leaderboard":
            queries.leaderboard(history, Scope(run=RUNS))
        else:
            getattr(queries, question)(history, RUNS)
    assert len(executed) <= 24, "a few for each entrant, none for each run"
    assert scans(history, executed) == []


def test_stackrank_runs(stackrank: CommandLine, history: Engine) -> None:
    assert len(stackrank("runs", "--limit", "500", "--json").json()) == RUNS
    output = stackrank("runs", "--limit", "3").out
    assert f"nightly-{RUNS}" in output and "nightly-1 " not in output
    with history.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM run")) == RUNS
