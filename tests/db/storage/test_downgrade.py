"""The schema goes back and forth, and what the earlier one knows too is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, inspect

from stackrank.db import queries
from stackrank.db.connection.engine import HEAD, connect, revision_of
from stackrank.db.connection.errors import DatabaseError
from stackrank.db.maintenance.downgrade import downgrade, lost
from stackrank.db.queries import Scope
from stackrank.db.writes.store import Store
from tests.db.storage import old

pytestmark = pytest.mark.slow  # by its time

EARLIER = [f"{number:04}" for number in range(1, int(HEAD))]


def answers(engine: Engine) -> Any:
    """What is asked of a database most."""
    runs = [{**row, "wall_s": None} for row in queries.runs(engine)]
    episodes = queries.episodes(engine, limit=1000)
    board = queries.leaderboard(engine, Scope(run=old.FINISHED))
    steps = [queries.steps(engine, row["id"]) for row in episodes]
    return json.loads(json.dumps([runs, episodes, board, steps], default=str))


@pytest.mark.parametrize("target", [each for each in EARLIER if each >= "0007"])
def test_a_database_of_an_old_version_goes_back_and_forth(target: str, tmp_path: Path) -> None:
    url = old.restore(tmp_path / "stackrank.db")
    engine = connect(url)
    before = answers(engine)
    engine.dispose()
    downgrade(target, url)
    bare = connect(url, migrate=False)
    with bare.connect() as connection:
        assert revision_of(connection) == target
        columns = {each["name"] for each in inspect(connection).get_columns("run")}
        tables = set(inspect(connection).get_table_names())
    assert ({"outages", "taken_up"} <= columns) == (target >= "0012")
    assert ("proposal" in tables) == (target >= "0013") and ("label" in tables) == (target >= "0014")
    assert "counter" not in tables
    bare.dispose()
    assert answers(connect(url)) == before


def test_both_databases_do(empty_url: str) -> None:
    store = Store(connect(empty_url))
    tasks = [{"name": "t", "digest": "d"}]
    benchmark = store.save_benchmark(name="bugs", digest="b", license="", source="", tasks=tasks)
    entrant = store.save_entrant(digest="e", name="one", agent="a")
    cells = [(task, entrant, 1) for task in benchmark.task_ids.values()]
    run = store.create_run(name="r", benchmark_id=benchmark.id, spec={}, cells=cells)
    store.start_run(run)
    claim = store.claim_next(run, "w")
    assert claim is not None
    store.finish_episode(claim["id"], verdict="resolved", stop_reason="submitted", wall_s=1.0)
    store.end_run(run, "finished")
    before = [queries.run(store.engine, run), queries.leaderboard(store.engine, Scope(run=run))]
    store.engine.dispose()
    downgrade("0009", empty_url)
    again = connect(empty_url, upgrade=True)
    assert [queries.run(again, run), queries.leaderboard(again, Scope(run=run))] == before
    again.dispose()


def test_what_is_lost_is_told_and_what_is_no_schema_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'stackrank.db'}"
    connect(url).dispose()
    told = lost("0010", url)
    assert [each[:4] for each in told] == sorted((each for each in [*EARLIER, HEAD] if each > "0010"), reverse=True)
    assert [
        word in line
        for word, line in zip(("Counters", "Labels", "Proposed", "endpoints", "difficulty"), told, strict=True)
    ] == [True] * 5
    for wrong in (HEAD, "0099", "head"):
        with pytest.raises(DatabaseError, match="is not an earlier one: choose 0001"):
            downgrade(wrong, url)
