"""What got worse: what must not be reported first, then what must."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from sqlalchemy import Engine, event, text

from stackrank.db import queries
from stackrank.db.writes.store import Store
from tests.support.episodes import create_episodes, start

pytestmark = pytest.mark.slow  # by its time

TASKS = 20
Board = Callable[..., int]


@pytest.fixture
def board(store: Store) -> Board:
    """Plays a run of the leaderboard: how many of the tasks each entrant resolved, failed on by error, and the cost."""

    def play(
        resolved: dict[str, int],
        *,
        errors: Sequence[str] = (),
        error_count: int = 0,
        cost: float | None = 0.1,
        leaderboard: str = "nightly",
        version: str = "1",
        status: str = "finished",
    ) -> int:
        tasks = [{"name": f"t{n:02}", "digest": f"d{n}"} for n in range(TASKS)]
        benchmark = store.save_benchmark(name="bugs", digest="b", license="", source="", tasks=tasks)
        run = store.create_run(name="r", benchmark_id=benchmark.id, spec={}, leaderboard=leaderboard)
        for label, count in resolved.items():
            name, _, own_version = label.partition("@")
            columns = {"digest": f"{name}-{own_version or version}", "agent_version": own_version or version}
            entrant = store.save_entrant(name=name, agent="a", **columns)
            cells = [(task, entrant, 1) for task in benchmark.task_ids.values()]
            for number, episode in enumerate(create_episodes(store, run, cells).values()):
                start(store, episode)
                if name in errors and number < error_count:
                    store.finish_episode(episode, verdict="error", stop_reason="error", error="no sandbox")
                else:
                    verdict = "resolved" if number < count else "unresolved"
                    store.finish_episode(episode, verdict=verdict, stop_reason="submitted", cost_usd=cost)
        store.end_run(run, status)
        return run

    return play


def test_nothing_to_report(engine: Engine, board: Board) -> None:
    assert queries.regressions(engine, board({"one": 15})) == [], "the first run"
    assert queries.regressions(engine, board({"one": 15})) == [], "the same again"
    assert queries.regressions(engine, board({"one": 13})) == [], "a drop that chance explains"
    assert queries.regressions(engine, board({"one": 20})) == [], "a gain"
    assert queries.regressions(engine, board({"one": 2}, leaderboard="weekly")) == [], "another leaderboard"
    assert queries.regressions(engine, board({"one": 2}, leaderboard="")) == []
    assert queries.regressions(engine, board({"two": 2})) == [], "another entrant"


def test_a_significant_drop(engine: Engine, board: Board) -> None:
    run_before = board({"one": 18, "two": 10})
    board({"one": 1, "two": 1}, status="failed")
    run = board({"one": 6, "two": 10}, version="2")
    (regression,) = queries.regressions(engine, run)
    assert (regression["entrant"], regression["what"], regression["before"], regression["tasks"]) == (
        "one",
        "rate",
        run_before,
        TASKS,
    )
    assert (regression["value_before"], regression["value"]) == (0.9, pytest.approx(0.3))
    assert regression["p_value"] == pytest.approx(2 * 0.5**12 * 2), "exact McNemar of 12 to 0, twice for two entrants"
    assert regression["differs"] == {"agent_version": ["1", "2"]}
    assert regression["sentence"].startswith("one is worse than before (90.0% -> 30.0%): -60.0 points (")
    assert queries.regressions(engine, run, alpha=0.0001) == []


def test_namesakes_have_separate_histories(engine: Engine, store: Store, board: Board) -> None:
    board({"one@1": 18, "one@2": 4})
    board({"one@1": 18, "one@2": 4})
    (unchanged,) = queries.changes(engine, board({"one@1": 18}))
    assert (unchanged["rate_before"], unchanged["rate"], unchanged["baseline"]) == (0.9, 0.9, 2), (
        "not the other version's 4"
    )
    fell = board({"one@1": 2, "one@2": 4})
    store.save_regressions(fell, queries.regressions(engine, fell))
    (change,) = queries.changes(engine, board({"one@2": 4}))
    assert (change["rate_before"], change["baseline"], change["before"]) == (0.2, 3, fell), "that was not its drop"


def test_holm_over_entrants(engine: Engine, board: Board) -> None:
    """Six tasks fewer, none more: p = 0.03 alone, and nothing to write home about among five."""
    names = [f"e{n}" for n in range(5)]
    board(dict.fromkeys(names, 16))
    run = board({**dict.fromkeys(names, 16), "e0": 10})
    assert queries.regressions(engine, run) == []
    alone = board({"solo": 16}, leaderboard="solo"), board({"solo": 10}, leaderboard="solo")
    assert [row["what"] for row in queries.regressions(engine, alone[1])] == ["rate"]


def test_more_errors_are_reported_but_lower_no_rate(engine: Engine, board: Board) -> None:
    board({"one": 20, "two": 20})
    few_errors_run = board({"one": 20, "two": 20}, errors=["one"], error_count=1)
    assert queries.regressions(engine, few_errors_run) == []
    many = board({"one": 20, "two": 20}, errors=["two"], error_count=8)
    (regression,) = queries.regressions(engine, many)
    assert (regression["entrant"], regression["what"], regression["value_before"], regression["value"]) == (
        "two",
        "errors",
        0.0,
        0.4,
    )
    assert queries.regressions(engine, many, errors=0.5) == []


def test_a_jump_in_cost(engine: Engine, board: Board) -> None:
    board({"one": 20}, cost=0.10)
    assert queries.regressions(engine, board({"one": 20}, cost=0.14)) == []
    (regression,) = queries.regressions(engine, board({"one": 20}, cost=0.25))
    assert (regression["what"], regression["value_before"], regression["value"]) == (
        "cost",
        pytest.approx(0.12),
        pytest.approx(0.25),
    )
    assert queries.regressions(engine, board({"one": 20}, cost=None)) == [], "an unknown price is no price"


def test_regressions_are_stored(engine: Engine, store: Store, board: Board) -> None:
    board({"one": 18})
    run = board({"one": 2})
    rows = queries.regressions(engine, run)
    store.save_regressions(run, rows)
    assert queries.run(engine, run)["regressions"] == rows


def test_a_lasting_drop_is_reported_every_night_and_its_end_is_seen(engine: Engine, store: Store, board: Board) -> None:
    for _ in range(3):
        board({"one": 18, "two": 10})
    for night in range(1, 4):
        run = board({"one": 9, "two": 10}, version="2")
        rows = queries.regressions(engine, run)
        assert [(row["called"], row["runs"], row["value_before"]) for row in rows] == [("one", night, 0.9)]
        store.save_regressions(run, rows)
        changes = queries.changes(engine, run)
        assert (changes[0]["sure"], changes[0]["p_value"]) == (True, rows[0]["p_value"]), "one statistic"
    assert queries.regressions(engine, board({"one": 18, "two": 10}, version="2")) == []


def test_changes_follow_the_series_and_not_run_names(engine: Engine, board: Board) -> None:
    """Scheduled runs have the minute in their names."""
    assert queries.changes(engine, board({"one": 18})) == []
    better = queries.changes(engine, board({"one": 18, "two": 4}))
    assert [(row["entrant"], row["sure"]) for row in better] == [("one", False)]
    (change,) = queries.changes(engine, board({"one": 5}))
    assert change["sure"] and change["difference"] == pytest.approx(-13 / 20) and change["ci_high"] < 0
    assert queries.changes(engine, board({"one": 5}, leaderboard="")) == [], "of no series"


def test_other_conditions_are_another_series(engine: Engine, store: Store, board: Board) -> None:
    board({"one": 18})
    run = board({"one": 5})
    assert len(queries.regressions(engine, run)) == 1
    with engine.begin() as connection:
        connection.execute(text("UPDATE run SET conditions_digest = 'fewer steps' WHERE id = :id"), {"id": run})
    assert queries.regressions(engine, run) == [] == queries.changes(engine, run)


def test_namesakes_are_not_merged(engine: Engine, store: Store, board: Board) -> None:
    board({"one": 18, "two": 5})
    run = board({"one": 18, "two": 5})
    with engine.begin() as connection:
        connection.execute(text("UPDATE entrant SET called = 'both'"))
    assert queries.regressions(engine, run) == []
    assert [row["difference"] for row in queries.changes(engine, run)] == [0, 0]


def test_the_number_of_queries_does_not_grow_with_entrants_and_runs(engine: Engine, board: Board) -> None:
    statements: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *call: statements.append(call[2]))

    def count(run: int) -> int:
        statements.clear()
        queries.regressions(engine, run)
        return sum(statement.startswith("SELECT") for statement in statements)

    board({"one": 18})
    few_errors_run = count(board({"one": 18}))
    for _ in range(3):
        last = board(dict.fromkeys("abcdef", 10))
    assert count(last) == few_errors_run
