"""Totals that are asked again and again are those of all episodes, whatever happens to runs in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, event, select, update

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.transactions import EPISODE
from stackrank.db.maintenance.prune import Pruning
from stackrank.db.totals.counters import BOUNDS
from stackrank.db.writes.store import Store


def play(store: Store, run: int, verdicts: str) -> None:
    store.start_run(run)
    for number, verdict in enumerate(verdicts):
        claim = store.claim_next(run, "w")
        assert claim is not None
        if verdict == "e":
            store.fail_episode(claim["id"], stop_reason="error", error="the sandbox: gone")
            store.retry_episode(claim["id"])
            continue
        columns = {"tokens_in": 10 + number, "tokens_out": 1, "wall_s": 4.0 + number, "cost_usd": 0.5}
        kind = "resolved" if verdict == "r" else "unresolved"
        store.finish_episode(claim["id"], verdict=kind, stop_reason="submitted", **columns)


def by_hand(engine: Engine) -> Any:
    """The same, episode by episode."""
    runs = {row["id"]: row["status"] for row in queries.runs(engine)}
    expected: dict[str, Any] = {
        "runs": Counter(runs.values()),
        "verdicts": {},
        "running": 0,
        "pending": 0,
        "retried": 0,
    }
    expected["errors"] = Counter()
    with engine.connect() as connection:
        episodes = connection.execute(select(EPISODE)).mappings().all()
    for row in episodes:
        expected["retried"] += not row["counted"]
        if row["verdict"] == "error":
            expected["errors"][row["error"].partition(":")[0]] += 1
        if row["counted"] and row["verdict"]:
            sums = expected["verdicts"].setdefault(row["verdict"], {"episodes": 0, "within": [0] * len(BOUNDS)})
            sums["episodes"] += 1
            for name in ("wall_s", "tokens_in", "tokens_out", "cost_usd"):
                sums[name] = sums.get(name, 0) + (row[name] or 0)
            sums["within"] = [n + (row["wall_s"] <= bound) for n, bound in zip(sums["within"], BOUNDS, strict=True)]
        elif row["counted"] and runs[row["run_id"]] in ("pending", "running"):
            expected[row["status"]] += 1
    return expected


def test_totals_agree_with_all_episodes(store: Store, matrix: SimpleNamespace) -> None:
    def check() -> None:
        assert queries.totals(store.engine) == by_hand(store.engine)

    check()
    play(store, matrix.run, "rue")
    check()
    store.end_run(matrix.run, "finished")
    check()
    more_runs = [
        store.create_run(name="m", benchmark_id=matrix.benchmark.id, spec={}, cells=matrix.cells) for _ in range(3)
    ]
    for run, verdicts in zip(more_runs, ("rr", "uer", "u"), strict=True):
        play(store, run, verdicts)
        check()
    store.end_run(more_runs[1], "finished")
    play(store, matrix.run, "r")  # it goes on again
    check()
    store.end_run(matrix.run, "finished")
    store.cancel_run(more_runs[0], "by ada")
    check()
    Pruning(store.engine).delete_run(more_runs[1])
    check()


def steps_of_sqlite(engine: Engine, ask: Callable[[], object]) -> int:
    """How many hundred instructions SQLite's machine carries out for a question."""
    ticks = 0

    def tick() -> None:
        nonlocal ticks
        ticks += 1

    def watch(connection: Any, *_: object) -> None:
        connection.set_progress_handler(tick, 100)

    event.listen(engine, "checkout", watch)
    try:
        ask()
    finally:
        event.remove(engine, "checkout", watch)
    return ticks


def test_queries_of_a_running_run_do_not_grow_with_its_episodes(tmp_path: Path, databases: Any) -> None:
    costs = []
    for attempts in (50, 5000):
        store = Store(connect(databases.empty(tmp_path / f"{attempts}.db")))
        tasks = [{"name": "t", "digest": "d"}, {"name": "u", "digest": "e"}]
        benchmark = store.save_benchmark(name="bugs", digest="b", license="", source="", tasks=tasks)
        entrant = store.save_entrant(digest="e", name="one", agent="a")
        cells = [(task, entrant, n) for n in range(attempts) for task in benchmark.task_ids.values()]
        run = store.create_run(name="r", benchmark_id=benchmark.id, spec={}, cells=cells)
        play(store, run, "ru")
        with store.engine.connect().execution_options(write=True) as connection, connection.begin():
            bulk_update = update(EPISODE).where(EPISODE.c.id > 10, EPISODE.c.id % 2 == 0)
            connection.execute(bulk_update.values(status="done", verdict="resolved", cost_usd=0.5))
        queries_of_run: list[Callable[[], object]] = [
            lambda store=store, run=run: queries.progress(store.engine, run),  # type: ignore[misc]
            lambda store=store, run=run: store.spent_usd(run),  # type: ignore[misc]
            lambda store=store, run=run: store.claims(run),  # type: ignore[misc]
            lambda store=store: queries.totals(store.engine),  # type: ignore[misc]
            lambda store=store: queries.queue_age_s(store.engine),  # type: ignore[misc]
        ]
        costs.append([steps_of_sqlite(store.engine, ask) for ask in queries_of_run])
        assert queries.progress(store.engine, run)["done"] == 2 + (2 * attempts - 10) // 2
        store.engine.dispose()
    assert costs[1] == pytest.approx(costs[0], abs=5), costs
