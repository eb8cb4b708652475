"""The database of a team: moving from SQLite, many writers at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, select, text

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.errors import DatabaseError
from stackrank.db.connection.transactions import EPISODE, NOTE, RUN, STEP
from stackrank.db.maintenance.copy import TABLES, copy, counts
from stackrank.db.models.runs import Step
from stackrank.db.writes.store import Store
from tests.postgres import Cluster
from tests.support.episodes import create_episodes, start


def test_connecting_without_create_needs_a_database(tmp_path: Path, empty_url: str) -> None:
    with pytest.raises(DatabaseError, match="does not exist"):
        connect(f"sqlite:///{tmp_path / 'typo.db'}", create=False)
    assert not (tmp_path / "typo.db").exists()
    connect(empty_url, migrate=False).dispose()
    with pytest.raises(DatabaseError, match="no tables of stackrank"):
        connect(empty_url, create=False)


def fill(engine: Engine, steps: int = 3) -> None:
    """A run with one episode played, one open, and texts that are hard to carry."""
    store = Store(engine)
    tasks = [{"name": f"t{n}", "digest": f"d{n}", "tags": ["a", "ü"]} for n in range(2)]
    benchmark = store.save_benchmark(name="bugs", digest="b", license="", source="", tasks=tasks)
    entrant = store.save_entrant(digest="e", name="one", agent="scripted", config={"deep": {"x": [1, None, 1.5]}})
    run = store.create_run(name="r", benchmark_id=benchmark.id, spec={"benchmark": "bugs"}, tags=["nightly"])
    episodes = create_episodes(store, run, [(task, entrant, 1) for task in benchmark.task_ids.values()])
    first = next(iter(episodes.values()))
    store.start_run(run)
    start(store, first)
    for index in range(steps):
        store.add_step(
            Step(
                episode_id=first,
                index=index,
                tool="eval",
                observation="a\x00b \U0001f600 é\n" * 50,
                state={"line": index},
            )
        )
    store.finish_episode(first, verdict="resolved", stop_reason="solved", steps=steps, cost_usd=0.1)


def rows_of(engine: Engine) -> dict[str, list[dict[str, Any]]]:
    with engine.connect() as connection:
        return {
            table.name: [dict(row) for row in connection.execute(select(table).order_by(*table.primary_key)).mappings()]
            for table in TABLES
        }


def test_copy_moves_everything(postgres: Cluster, tmp_path: Path) -> None:
    source = connect(f"sqlite:///{tmp_path / 'x.db'}")
    fill(source, steps=1203)  # more than two batches
    fill(source, steps=2)  # ids that do not start at one in every table
    target = connect(postgres.create())
    reported: dict[str, int] = {}
    copied = copy(source, target, reported.__setitem__)
    assert copied == reported == counts(source) == counts(target)
    assert copied["step"] == 1205 and copied["run"] == 2
    assert rows_of(source) == rows_of(target)
    # The next rows get ids of their own.
    fill(target)
    assert counts(target)["run"] == 3
    assert max(row["id"] for row in queries.runs(target)) == 3


def test_copy_moves_postgresql_to_sqlite(postgres: Cluster, tmp_path: Path) -> None:
    source = connect(postgres.create("migrated"))
    fill(source)
    target = connect(f"sqlite:///{tmp_path / 'x.db'}")
    copy(source, target, lambda *_: None)
    assert rows_of(source) == rows_of(target)
    fill(target)


def test_copy_refuses_a_target_with_rows(engine: Engine, tmp_path: Path) -> None:
    source = connect(f"sqlite:///{tmp_path / 'source.db'}")
    fill(source)
    fill(engine)
    old_rows = rows_of(engine)
    with pytest.raises(DatabaseError, match="already has rows"):
        copy(source, engine, lambda *_: None)
    assert rows_of(engine) == old_rows


def test_a_copy_that_fails_leaves_the_target_empty(postgres: Cluster, tmp_path: Path) -> None:
    source = connect(f"sqlite:///{tmp_path / 'x.db'}")
    fill(source)
    target = connect(postgres.create("migrated"))
    with target.begin() as connection:
        connection.execute(text("ALTER TABLE step ADD CONSTRAINT nothing CHECK (index < 2)"))
    with pytest.raises(DatabaseError):
        copy(source, target, lambda *_: None)
    assert not any(counts(target).values())


@pytest.mark.parametrize("writers", [16])
def test_writers_start_and_write_at_once(postgres: Cluster, writers: int) -> None:
    """Each with a connection pool of its own, as so many processes have."""
    url = postgres.create()
    barrier = threading.Barrier(writers)
    steps = 20

    def work(number: int) -> int:
        barrier.wait()
        store = Store(connect(url))
        tasks = [{"name": f"t{n}", "digest": f"d{n}"} for n in range(4)]
        benchmark = store.save_benchmark(name="bugs", digest="b", license="", source="", tasks=tasks)
        entrant = store.save_entrant(digest=f"e{number % 3}", name=f"e{number % 3}", agent="scripted")
        run = store.create_run(name=f"r{number}", benchmark_id=benchmark.id, spec={})
        cells = [(task, entrant, 1) for task in benchmark.task_ids.values()]
        for episode in create_episodes(store, run, cells).values():
            start(store, episode)
            for index in range(steps):
                store.add_step(Step(episode_id=episode, index=index, tool="eval", observation="x" * 2000))
            store.finish_episode(episode, verdict="resolved", stop_reason="solved", steps=steps)
            store.heartbeat(run)
        store.engine.dispose()
        return run

    with ThreadPoolExecutor(writers) as pool:
        runs = list(pool.map(work, range(writers)))
    assert len(set(runs)) == writers
    engine = connect(url)
    with engine.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(RUN)) == writers
        assert connection.scalar(select(func.count()).where(EPISODE.c.verdict == "resolved")) == writers * 4
        assert connection.scalar(select(func.count()).select_from(STEP)) == writers * 4 * steps
        assert connection.scalar(select(func.count()).select_from(NOTE)) == 0
    engine.dispose()
