"""What pages ask beyond the leaderboard: tools, funnel, reliability, health, tasks, notes."""

from __future__ import annotations

from statistics import fmean
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine

from stackrank.db import queries, stats
from stackrank.db.connection.engine import connect
from stackrank.db.connection.errors import NotFound
from stackrank.db.models.runs import Step
from stackrank.db.queries import Scope
from stackrank.db.writes.notes import Notes
from stackrank.db.writes.store import Store
from stackrank.errors import UsageError
from stackrank.terms import FAILURE_POINTS, Milestone
from tests.dashboard.seed import Seeded
from tests.support.databases import Databases
from tests.support.episodes import create_episodes, start


@pytest.fixture(scope="module")
def seeded(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Any:
    url, contents = databases.seeded(tmp_path_factory.mktemp("seeded") / "x.db", runs=2, live=False, attempts=2)
    opened = connect(url)
    yield opened, contents
    opened.dispose()


QUESTIONS = ("tool_use", "tool_sets", "funnel", "excluded_episodes", "reliability", "budget_curves", "task_rates")


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_empty_database(engine: Engine, question: str) -> None:
    assert getattr(queries, question)(engine) == []
    assert getattr(queries, question)(engine, Scope(benchmark="none", tags=["x"])) == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_unknown_runs(engine: Engine, question: str) -> None:
    with pytest.raises(NotFound):
        getattr(queries, question)(engine, Scope(run="nowhere"))


def test_health_of_an_empty_database(engine: Engine) -> None:
    report = queries.health(engine)
    assert report["error_rate"] is None and report["done"] == 0 and report["stalled"] == report["reasons"] == []


def test_tool_use_agrees_with_the_steps(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    rows = {(row["entrant_id"], row["tool"]): row for row in queries.tool_use(engine, Scope(run=contents.runs))}
    counted: dict[Any, list[int]] = {}
    for episode in queries.episodes(engine, limit=1000, verdict=["resolved", "unresolved"]):
        for step in queries.steps(engine, episode["id"], first=1):
            sums = counted.setdefault((episode["entrant_id"], step["tool"]), [0, 0, 0, 0, 0])
            sums[0] += 1
            localized, edited = episode["at_localized"], episode["at_edited"]
            repairing = edited is not None and step["index"] >= edited
            diagnosing = not repairing and localized is not None and step["index"] > localized
            sums[3 if repairing else 2 if diagnosing else 1] += 1
            sums[4] += not step["ok"]
    names = ("calls", "searching", "diagnosing", "repairing", "failed")
    assert {key: [row[name] for name in names] for key, row in rows.items()} == counted
    for (entrant, _), row in rows.items():
        assert (row["cost_usd"] is None) == (entrant == contents.entrants["llama-3.3-70b / debug"])
        assert row["error_rate"] == row["failed"] / row["calls"]


def test_tools_of_an_episode_that_failed_or_ends_twice(store: Store, engine: Engine) -> None:
    benchmark = store.save_benchmark(name="b", digest="d", license="", source="", tasks=[{"name": "t"}])
    entrant = store.save_entrant(digest="e", name="e", agent="a")
    run = store.create_run(name="r", benchmark_id=benchmark.id, spec={})
    (episode,) = create_episodes(store, run, [(benchmark.task_ids["t"], entrant, 1)]).values()
    start(store, episode)
    store.add_step(Step(episode_id=episode, index=0))
    store.add_step(Step(episode_id=episode, index=1, tool="view", cost_usd=0.5))
    store.finish_episode(episode, verdict="error", stop_reason="error")
    assert queries.tool_use(engine, Scope(run=run)) == []
    row = store.retry_episode(episode, "w", afresh=True)
    assert row is not None
    episode_id = row["id"]
    for index in (1, 2):
        store.add_step(Step(episode_id=episode_id, index=index, tool="view", ok=index == 1, cost_usd=0.5))
    for _ in range(2):
        store.finish_episode(episode_id, verdict="resolved", stop_reason="solved")
    (row,) = queries.tool_use(engine, Scope(run=run))
    assert (row["calls"], row["failed"], row["cost_usd"], row["episodes"]) == (2, 1, 1.0, 1)


def test_tool_sets_with_and_without_a_debugger(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    (pair,) = queries.tool_sets(engine, Scope(run=contents.runs))
    direct = queries.compare(engine, "qwen3-coder / rewrite", "qwen3-coder / debug", Scope(run=contents.runs))
    assert pair == direct and pair["family"] == 3, "one answer, on whichever page"
    assert set(pair["differs"]) == {"tools", "tool_list"}


def test_pairs_are_corrected_together(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    pairs = queries.compare_all(engine, list(contents.entrants.values()), Scope(run=contents.runs))
    assert len(pairs) == 3
    assert [row["p_holm"] for row in pairs] == stats.holm([row["p_value"] for row in pairs])
    for row in pairs:  # however few are shown
        comparison = queries.compare(
            engine, row["first"]["entrant"], row["second"]["entrant"], Scope(run=contents.runs)
        )
        assert comparison == row and " over 3 pairs (Holm)" in comparison["sentence"]
    pair = pairs[0]
    categories = queries.compare_categories(pair["by_task"])
    assert len(pair["by_task"]) == pair["tasks"] == sum(row["tasks"] for row in categories)
    assert [row["p_holm"] for row in categories] == stats.holm([row["p_value"] for row in categories])
    mean = sum(row["difference"] for row in pair["by_task"]) / pair["tasks"]
    assert pair["difference"] == pytest.approx(mean)
    assert pair["only_second"] == [row["task"] for row in pair["by_task"] if row["difference"] > 0]
    assert pair["flaky"]


def test_the_funnel(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    board = {row["entrant_id"]: row for row in queries.leaderboard(engine, Scope(run=contents.runs))}
    for row in queries.funnel(engine, Scope(run=contents.runs)):
        standing = board[row["entrant_id"]]
        assert (
            row["counted"] == standing["resolved"] + standing["unresolved"] and row["resolved"] == standing["resolved"]
        )
        assert all(0 <= row[name] <= row["counted"] for name in Milestone)
        assert row["localized"] <= row["reproduced"] <= row["counted"]


def test_the_funnel_names_the_greatest_loss(seeded: tuple[Engine, Seeded]) -> None:
    row = queries.funnel(seeded[0])[0]
    counts = {"counted": 9, "reproduced": 9, "localized": 8, "inspected": 0, "edited": 4, "improved": 4, "resolved": 0}
    rows: Any = [{**row, **counts}]
    assert queries.funnel_sentence(rows) == (
        "The most episodes are lost between localized and edited and between improved and resolved: "
        "4 each of 9 counted episodes."
    )
    rows[0]["resolved"] = 1
    assert queries.funnel_sentence(rows) == (
        "The most episodes are lost between localized and edited: 4 of 9 counted episodes."
    )
    assert queries.funnel_sentence([{**rows[0], **dict.fromkeys(counts, 9)}]) == ""


def test_the_most_frequent_failure_points_are_named(seeded: tuple[Engine, Seeded]) -> None:
    row: Any = queries.failure_points(seeded[0])[0]
    rows = [{**row, "failure_points": points} for points in ({"wrong_fix": 2, "tampered": 1}, {"tampered": 1})]
    assert queries.failures_sentence(rows) == (
        "The most frequent failure points are wrong fix and tampered: 2 each of 4 unresolved episodes."
    )
    rows[1]["failure_points"]["tampered"] = 2
    assert queries.failures_sentence(rows) == (
        "The most frequent failure point is tampered: 3 of 5 unresolved episodes."
    )
    assert queries.failures_sentence([{**row, "failure_points": {}}]) == ""


def test_runs_with_other_failure_point_rules_are_listed(store: Store, matrix: SimpleNamespace) -> None:
    def create(**versions: str) -> int:
        return store.create_run(name="r", benchmark_id=matrix.benchmark.id, spec={}, versions=versions)

    old, unknown = create(failure_points="1"), create(python="3.11")
    new = [create(failure_points=FAILURE_POINTS) for _ in range(2)]
    assert queries.runs_with_other_analysis(store.engine, Scope(run=(old, unknown, *new))) == [old, unknown]
    for alike in ([old], [unknown], new):
        assert queries.runs_with_other_analysis(store.engine, Scope(run=alike)) == []


def test_excluded_episodes_and_health(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    errors = sum(row["errors"] for row in queries.leaderboard(engine, Scope(run=contents.runs)))
    (row,) = queries.excluded_episodes(engine, Scope(run=contents.runs))
    assert row["episodes"] == errors > 0 and row["reason"] == "infrastructure" and "60 s" in row["what"]
    assert queries.episode(engine, row["example"])["verdict"] == "error"
    shares = queries.excluded_shares(engine, Scope(run=contents.runs))
    assert sum(share["infrastructure"] for share in shares) == errors
    assert sum(share["played"] for share in shares) == sum(
        row["resolved"] + row["unresolved"] + row["errors"]
        for row in queries.leaderboard(engine, Scope(run=contents.runs))
    )
    assert {share["defective"] for share in shares} == {0}
    health = queries.health(engine)
    assert health["errors"] == errors and health["reasons"][0]["episodes"] == errors
    assert health["done"] == 2 * 20 * 3 * 2 and health["error_rate"] == errors / health["done"]


def test_reliability_of_the_board(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    board = {row["entrant_id"]: row for row in queries.leaderboard(engine, Scope(run=contents.runs[0]))}
    rows = queries.reliability(engine, Scope(run=contents.runs[0]))
    assert {row["k"] for row in rows} == {1, 2}
    for row in rows:
        if row["k"] == 1:
            assert row["pass_at_k"] == row["all_k"]
            standing = board[row["entrant_id"]]
            assert row["tasks"] == standing["tasks"] and row["pass_at_k"] == pytest.approx(standing["rate"], abs=0.03)
            assert row["pass_low"] == pytest.approx(standing["ci_low"], abs=0.04)
        else:
            assert row["all_k"] < row["pass_at_k"]


@pytest.mark.parametrize("by", ["steps", "cost_usd"])
def test_budget_curves_end_at_the_rate(seeded: tuple[Engine, Seeded], by: Any) -> None:
    engine, contents = seeded
    board = {row["entrant_id"]: row for row in queries.leaderboard(engine, Scope(run=contents.runs))}
    curves = queries.budget_curves(engine, Scope(run=contents.runs), by=by)
    assert len(curves) == (3 if by == "steps" else 2)
    for row in curves:
        assert row["curve"][-1][1] == pytest.approx(board[row["entrant_id"]]["rate"])
        assert row["curve"] == sorted(row["curve"]) and len(row["curve"]) <= 250
        middle, share = row["curve"][len(row["curve"]) // 2]
        verdicts = queries.episodes(
            engine, entrant_id=row["entrant_id"], verdict=["resolved", "unresolved"], limit=1000
        )
        tasks: dict[str, list[bool]] = {}
        for verdict in verdicts:
            tasks.setdefault(verdict["task"], []).append(verdict["verdict"] == "resolved" and verdict[by] <= middle)
        assert share == pytest.approx(fmean(fmean(results) for results in tasks.values())), "tasks weigh the same"


def test_tasks(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    rates = queries.task_rates(engine, Scope(run=contents.runs))
    assert len(rates) == 20 and [row["rate"] for row in rates] == sorted(row["rate"] for row in rates)
    for row in (rates[0], rates[-1]):
        board = queries.task_board(engine, row["task_id"])
        assert {name: board[name] for name in ("resolved", "unresolved", "errors", "rate", "flaky", "suspect")} == {
            name: row[name] for name in ("resolved", "unresolved", "errors", "rate", "flaky", "suspect")
        }
        assert len(board["episodes"]) == sum(len(side["attempts"]) for side in board["entrants"]) == 12
    with pytest.raises(NotFound):
        queries.task_board(engine, 4711)


def test_a_task_that_nobody_resolves_is_suspect(store: Store, engine: Engine) -> None:
    benchmark = store.save_benchmark(name="b", digest="d", license="", source="", tasks=[{"name": "t"}])
    entrants = [store.save_entrant(digest=name, name=name, agent="a") for name in "xy"]
    run = store.create_run(name="r", benchmark_id=benchmark.id, spec={})
    cells = [(benchmark.task_ids["t"], entrant, attempt) for entrant in entrants for attempt in (1, 2)]
    episodes = list(create_episodes(store, run, cells).values())
    for count, episode in enumerate(episodes, 1):
        start(store, episode)
        store.finish_episode(episode, verdict="unresolved", stop_reason="submitted")
        assert bool(queries.task_rates(engine, Scope(run=run))[0]["suspect"]) == (count == 4)
    store.save_validation(benchmark.id, {"t": (False, "passes as given")})
    assert "passes as given" in queries.task_board(engine, benchmark.task_ids["t"])["suspect"]
    assert queries.excluded_episodes(engine, Scope(run=run))[0]["reason"] == "defective task"
    assert [(row["played"], row["defective"]) for row in queries.excluded_shares(engine, Scope(run=run))] == [
        (2, 2)
    ] * 2


def test_notes_and_tags(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    notes, run, episode = Notes(engine), contents.runs[0], contents.episodes[0]
    about_run = notes.add(run, " slow\0 today ", author="ada")
    about_step = notes.add(run, "here", author="bob", episode_id=episode, step_index=3)
    assert [note["id"] for note in queries.notes(engine, run_id=run)] == [about_run, about_step]
    (note,) = queries.notes(engine, episode_id=episode)
    assert (note["author"], note["step_index"], note["body"]) == ("bob", 3, "here")
    assert not notes.remove(about_step, author="ada") and notes.remove(about_step, author="bob")
    for wrong in ({"body": " "}, {"body": "x" * 10_001}, {"body": "x", "step_index": 3}):
        with pytest.raises(UsageError, match="note"):
            notes.add(run, author="ada", **wrong)
    with pytest.raises(NotFound):
        notes.add(contents.runs[1], "x", author="ada", episode_id=episode)
    notes.tag_episode(episode, ["look at this", " odd ", "odd", ""])
    assert [row["id"] for row in queries.episodes(engine, tags="odd")] == [episode]
    assert queries.episode(engine, episode)["tags"] == ["look at this", "odd"]
    notes.tag_run(run, ["kept"])
    assert [row["id"] for row in queries.runs(engine, tags="kept")] == [run]
    with pytest.raises(UsageError, match="tags"):
        notes.tag_run(run, ["x" * 61])
    with pytest.raises(NotFound):
        notes.tag_run(4711, [])
