"""The database by way of PgBouncer in transaction mode: each transaction may have another connection of the server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url, text

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.errors import DatabaseError
from stackrank.db.maintenance.copy import copy
from stackrank.db.models.runs import Step
from stackrank.db.totals import counters
from stackrank.db.writes.store import Store
from tests import pgbouncer
from tests.postgres import Cluster

WORKERS, TASKS = 8, 40


@pytest.fixture
def folder(postgres: Cluster) -> Iterator[Path]:
    with pgbouncer.pgbouncer(postgres) as socket_folder:
        yield socket_folder


def test_many_workers_share_few_connections(postgres: Cluster, folder: Path, tmp_path: Path) -> None:
    """From the first migration to a copy of everything."""
    name = str(make_url(postgres.create()).database)
    stores = [Store(connect(pgbouncer.url(folder, name))) for _ in range(WORKERS)]
    tasks = [{"name": f"t{n}", "digest": f"d{n}"} for n in range(TASKS)]
    benchmark = stores[0].save_benchmark(name="bugs", digest="b", license="", source="", tasks=tasks)
    entrant = stores[0].save_entrant(digest="e", name="one", agent="a")
    cells = [(task, entrant, 1) for task in benchmark.task_ids.values()]
    run = stores[0].create_run(name="r", benchmark_id=benchmark.id, spec={}, cells=cells)
    stores[0].start_run(run)
    failed: list[BaseException] = []

    def work(number: int) -> None:
        store, by = stores[number], f"worker-{number}"
        try:
            while claim := store.claim_next(run, by):
                store.add_step(Step(episode_id=claim["id"], index=0, observation="1 failed"), by=by)
                store.keep_claims([claim["id"]], by)
                store.finish_episode(claim["id"], verdict="resolved", stop_reason="submitted", cost_usd=0.5, by=by)
                queries.progress(store.engine, run)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    stores[0].end_run(run, "finished")
    assert queries.progress(stores[0].engine, run)["resolved"] == TASKS
    with stores[0].engine.connect() as connection:
        assert counters.differences(connection) == {}
    with psycopg.connect(postgres.url("postgres")) as direct:
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
        assert direct.execute(query, [name]).fetchall()[0][0] <= pgbouncer.CONNECTIONS
    copied = copy(stores[0].engine, connect(f"sqlite:///{tmp_path / 'copy.db'}"), lambda table, rows: None)
    assert copied["episode"] == TASKS
    for store in stores:
        store.engine.dispose()


def test_no_prepared_statement_is_used_across_sessions(postgres: Cluster, folder: Path) -> None:
    engine = connect(pgbouncer.url(folder, str(make_url(postgres.create("migrated")).database)))
    with engine.connect() as first, engine.connect() as second:
        for _ in range(10):  # psycopg prepares what it is asked for the sixth time, and gives it a number of its own
            for connection, question in ((first, "SELECT 1"), (second, "SELECT 2")):
                with connection.begin():
                    assert connection.scalar(text(question)) == int(question[-1])
    engine.dispose()


@pytest.mark.parametrize("pooled", [True, False])
def test_idle_transactions_are_ended(postgres: Cluster, folder: Path, pooled: bool) -> None:
    name = str(make_url(postgres.create("migrated")).database)
    engine = connect(pgbouncer.url(folder, name) if pooled else postgres.url(name))
    for _ in range(3):
        with engine.connect() as connection:
            assert connection.scalar(text("SHOW idle_in_transaction_session_timeout")) == "30s"
    engine.dispose()
    if pooled:  # and none of it stays for others who share the connection
        with psycopg.connect(pgbouncer.url(folder, name)) as session:
            assert session.execute("SHOW idle_in_transaction_session_timeout").fetchall() == [("0",)]


def test_an_unreachable_pooler_is_reported(folder: Path, postgres: Cluster) -> None:
    with pytest.raises(DatabaseError, match="nowhere"):
        connect(pgbouncer.url(folder, "nowhere"))
