"""Leaderboards: which runs and tasks they count, what their rows hold, and what they cost to read."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, delete, event

from stackrank.db import queries
from stackrank.db.connection.errors import NotComparable, NotFound
from stackrank.db.connection.transactions import TALLY
from stackrank.db.queries import Scope
from stackrank.db.writes.store import Store
from tests.dashboard.seed import Seeded
from tests.support.episodes import create_episodes, start


def finish(store: Store, episode: int, verdict: str, **columns: Any) -> None:
    start(store, episode)
    totals = {"steps": 4, "tokens_in": 100, "tokens_out": 10, "cost_usd": 0.5, "wall_s": 2.0} | columns
    store.finish_episode(episode, verdict=verdict, stop_reason="submitted", **totals)


def test_errors_are_excluded_from_rates(store: Store, matrix: SimpleNamespace) -> None:
    engine = store.engine
    for (_, entrant, _), episode in matrix.episodes.items():
        finish(store, episode, "error" if entrant == matrix.one else "unresolved", error="The model did not answer.")
    store.end_run(matrix.run, "finished")
    rows = {row["entrant"]: row for row in queries.leaderboard(engine)}
    row = rows["one"]
    assert (row["episodes"], row["errors"], row["rate"], row["ci_low"]) == (3, 3, None, None)
    assert (row["steps_mean"], row["cost_per_episode"], row["rank_low"], row["tokens_in"]) == (None, None, None, 0)
    assert (rows["two"]["rate"], rows["two"]["ci_low"], rows["two"]["cost_per_resolved"]) == (0.0, 0.0, None)
    assert [row["entrant"] for row in queries.leaderboard(engine)] == ["two", "one"]
    comparison = queries.compare(engine, "one", "two")
    assert comparison["tasks"] == 0 and "no counted task in common" in comparison["sentence"]
    json.dumps(comparison)


def test_rows_of_a_leaderboard(store: Store, matrix: SimpleNamespace) -> None:
    engine = store.engine
    verdicts = iter(["resolved", "unresolved", "resolved", "resolved", "error", "unresolved"])
    for cell, episode in matrix.episodes.items():
        unknown = cell[1] == matrix.two and cell[0] == matrix.cells[0][0]
        finish(store, episode, next(verdicts), cost_usd=None if unknown else 0.5)
    first, two = queries.leaderboard(engine, Scope(run="latest"))
    assert (first["entrant"], first["episodes"], first["resolved"], first["errors"], first["rate"]) == (
        "one",
        3,
        2,
        1,
        1.0,
    )
    assert (first["tasks"], first["tasks_total"], first["steps_mean"], first["wall_mean_s"]) == (2, 3, 4.0, 2.0)
    # Three episodes were paid for, one of which ended in an error.
    assert (first["cost_usd"], first["cost_per_episode"], first["cost_per_resolved"]) == (1.5, 0.5, 0.5)
    assert first["tokens_in"] == 200
    assert (two["entrant"], two["rate"], two["all_attempts_rate"]) == (
        "two",
        pytest.approx(1 / 3),
        pytest.approx(1 / 3),
    )
    assert (two["cost_usd"], two["cost_per_resolved"]) == (None, None)  # one price is unknown
    assert [(row["rank_low"], row["rank_high"]) for row in (first, two)] == [(1, 2), (1, 2)]
    json.dumps([first, two], allow_nan=False)
    summary = queries.run_summary(engine, matrix.run)
    assert list(summary) == [
        "run",
        "name",
        "benchmark",
        "status",
        "wall_s",
        "episodes",
        "resolved",
        "sealed",
        "unverified",
        "unresolved",
        "errors",
        "stop",
        "entrants",
        "scope",
    ]
    assert list(summary["entrants"][0]) == [
        "entrant",
        "agent",
        "model",
        "tools",
        "episodes",
        "resolved",
        "sealed",
        "unverified",
        "unresolved",
        "errors",
        "rate",
        "ci_low",
        "ci_high",
        "steps_mean",
        "tokens_in",
        "tokens_out",
        "cost_usd",
        "reference",
        "faults_mended",
        "faults",
    ]
    assert summary["resolved"] == 3 and summary["run"] == matrix.run


def test_which_runs_and_tasks_count(store: Store, engine: Engine) -> None:
    def play(digest: str, tasks: dict[str, str], verdict: str, **options: Any) -> None:
        benchmark = store.save_benchmark(
            name="bugs",
            digest=digest,
            license="",
            source="",
            tasks=[{"name": n, "digest": d} for n, d in tasks.items()],
        )
        entrant = store.save_entrant(digest="e", name="e", agent="a")
        run = store.create_run(name=digest, benchmark_id=benchmark.id, spec={}, **options)
        for episode in create_episodes(
            store, run, [(task, entrant, 1) for task in benchmark.task_ids.values()]
        ).values():
            finish(store, episode, verdict)
        store.end_run(run, "finished")

    play("v1", {"same": "1", "changed": "1", "gone": "1"}, "unresolved", tags=["old", "x"])
    play("v2", {"same": "1", "changed": "2", "new": "1"}, "resolved", tags=["x"], leaderboard="nightly")
    (row,) = queries.leaderboard(engine)
    # The version that was played last, and nothing of the one before it.
    assert (row["episodes"], row["resolved"], row["tasks"]) == (3, 3, 3)
    assert queries.leaderboard(engine, Scope(run="v1"))[0]["episodes"] == 3
    with pytest.raises(NotComparable, match=r"Runs 1, 2 cannot be pooled \(run 2: different version v2\)\."):
        queries.leaderboard(engine, Scope(run=["v1", "v2"]))
    assert queries.leaderboard(engine, Scope(tags=["old", "x"]))[0]["resolved"] == 0
    assert queries.leaderboard(engine, Scope(tags="x", last=1))[0]["episodes"] == 3
    assert queries.leaderboard(engine, Scope(series="nightly"))[0]["episodes"] == 3
    assert queries.leaderboard(engine, Scope(benchmark="other")) == []
    store.save_validation(queries.benchmark(engine, "bugs")["id"], {"same": (False, "passes as given")})
    assert queries.leaderboard(engine)[0]["tasks"] == 2
    assert queries.leaderboard(engine, Scope(run="v2"))[0]["tasks"] == 2
    assert [run["name"] for run in queries.runs(engine, tags="x")] == ["v2", "v1"]
    assert [run["name"] for run in queries.runs(engine, tags=["x", "old"])] == ["v1"]
    assert queries.runs(engine, tags="%") == []


def test_comparing_two(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    comparison = queries.compare(
        engine, "llama-3.3-70b / debug", contents.entrants["qwen3-coder / debug"], Scope(run=contents.runs[:2])
    )
    assert comparison["tasks"] <= 20 and comparison["difference"] > 0.1
    assert comparison["ci_low"] < comparison["difference"] < comparison["ci_high"]
    assert (
        comparison["first"]["entrant"] == "llama-3.3-70b / debug"
        and comparison["second"]["tasks"] == comparison["tasks"]
    )
    assert set(comparison["only_first"]).isdisjoint(comparison["only_second"])
    assert (
        comparison["sentence"].startswith("qwen3-coder / debug is ")
        and "points ahead of llama" in comparison["sentence"]
    )
    reversed_comparison = queries.compare(
        engine, "qwen3-coder / debug", "llama-3.3-70b / debug", Scope(run=contents.runs[:2])
    )
    assert reversed_comparison["difference"] == pytest.approx(-comparison["difference"])
    assert (
        reversed_comparison["sentence"].startswith("llama-3.3-70b / debug is ")
        and "points behind qwen3" in reversed_comparison["sentence"]
    )
    assert (1 + comparison["uplift"]) * (1 + reversed_comparison["uplift"]) == pytest.approx(1)
    assert (
        f"relatively {100 * comparison['uplift']:+.0f}% ({100 * comparison['uplift_low']:+.0f}%"
        in comparison["sentence"]
    )
    json.dumps(comparison, allow_nan=False)
    with pytest.raises(NotFound):
        queries.compare(engine, "nobody", "llama-3.3-70b / debug")


def test_failure_points(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    rows = queries.failure_points(engine, Scope(run=contents.runs[0]))
    assert len(rows) == 3
    for row in rows:
        assert row["unresolved"] == sum(row["failure_points"].values())
        assert row["resolved"] + row["unresolved"] + row["errors"] == 20
    points = {row["entrant_id"]: row["failure_points"] for row in rows}
    for reached in queries.funnel(engine, Scope(run=contents.runs[0])):
        never = [points[reached["entrant_id"]].get(f"never_{name}", 0) for name in ("reproduced", "localized")]
        counted = reached["counted"]
        assert [counted - reached["reproduced"], counted - reached["localized"]] == [never[0], sum(never)]


def without_tallies(engine: Engine) -> None:
    """As while runs go on: a board adds their episodes up."""
    with engine.begin() as connection:
        connection.execute(delete(TALLY))


def test_a_leaderboard_reads_no_episode_rows(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    without_tallies(engine)
    statements: list[tuple[str, Any]] = []

    def record(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        statements.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", record)
    queries.leaderboard(engine, Scope(run=contents.runs[0]))
    queries.steps(engine, contents.hostile)
    event.remove(engine, "before_cursor_execute", record)
    (board,) = [entry for entry in statements if entry[0].endswith("GROUP BY episode.entrant_id, episode.task_id")]
    steps = [entry for entry in statements if "FROM step" in entry[0]]
    with engine.connect() as connection:
        plans = [
            " ".join(row[-1] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", parameters))
            for sql, parameters in (board, *steps)
        ]
    assert "COVERING INDEX ix_episode_totals" in plans[0]
    assert steps and all("SEARCH step" in plan and "TEMP B-TREE" not in plan for plan in plans[1:])


def test_a_board_over_many_runs_sorts_nothing_in_the_database(
    seeded: tuple[Engine, Seeded], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, _ = seeded
    board_of_few = queries.leaderboard(engine)
    without_tallies(engine)
    monkeypatch.setattr("stackrank.db.queries.boards.cells._FEW_RUNS", 0)
    statements: list[tuple[str, Any]] = []

    def record(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        statements.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", record)
    assert queries.leaderboard(engine) == board_of_few
    event.remove(engine, "before_cursor_execute", record)
    ((sql, parameters),) = [
        entry for entry in statements if entry[0].endswith("GROUP BY episode.entrant_id, episode.task_id")
    ]
    with engine.connect() as connection:
        plan = " ".join(row[-1] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", parameters))
    assert "COVERING INDEX ix_episode_cells" in plan and "TEMP B-TREE" not in plan
