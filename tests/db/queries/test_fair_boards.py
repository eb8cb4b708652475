"""Nothing that a board puts beside each other favours who played easier tasks, fewer of them, or in other runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import pytest

from stackrank.dashboard import charts
from stackrank.db import queries, stats
from stackrank.db.connection.engine import connect
from stackrank.db.connection.errors import NotComparable, NotFound
from stackrank.db.queries import Scope
from stackrank.db.queries.comparisons.history import episode_means
from stackrank.db.writes.store import Store
from stackrank.flows.cli.output import leaderboard_remarks
from stackrank.terms import ErrorsAre
from tests.db.storage.test_identity import KNOWN
from tests.support.episodes import create_episodes, start

pytestmark = pytest.mark.slow  # by its time

VERDICTS = {"+": "resolved", "-": "unresolved", "!": "error"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(connect(f"sqlite:///{tmp_path / 'boards.db'}"))


def played(
    store: Store, verdicts: Mapping[str, str], *, status: str = "finished", cost: float = 0.5, **run_options: Any
) -> int:
    """A run over 30 tasks. `verdicts`: entrant -> a sign per task: + resolved, - unresolved, ! error, none by a space;
    several times as many signs are further attempts."""
    tasks = [{"name": f"t{n:02}", "digest": f"d{n}", "category": f"c{n // 5}"} for n in range(30)]
    saved = store.save_benchmark(name="bugs", digest="v1", license="", source="", tasks=tasks)
    ids = list(saved.task_ids.values())
    signs = {
        (ids[n % 30], store.save_entrant(digest=name, name=name, agent="repair"), n // 30 + 1): sign
        for name, row in verdicts.items()
        for n, sign in enumerate(row)
        if sign != " "
    }
    conditions = {**KNOWN, **run_options.pop("conditions", {})}
    run = store.create_run(**{"name": "r", "spec": {}, **run_options}, benchmark_id=saved.id, conditions=conditions)
    store.start_run(run)
    for cell, episode in create_episodes(store, run, list(signs)).items():
        start(store, episode)
        verdict = VERDICTS[signs[cell]]
        error = {"error": "gone"} if verdict == "error" else {"steps": 3}
        store.finish_episode(episode, verdict=verdict, stop_reason="submitted", cost_usd=cost, **error)
    if status != "running":
        store.end_run(run, status)
    return run


def board(store: Store, scope: Scope | None = None) -> dict[str, Any]:
    return {row["entrant"]: row for row in queries.leaderboard(store.engine, scope or Scope())}


def test_skipping_hard_tasks_does_not_improve_a_rank(store: Store) -> None:
    played(store, {"all": "+" * 18 + "-" * 12, "too": "+" * 17 + "-" * 13, "easy": "+" * 15 + "-" * 10 + "!" * 5})
    rows = board(store)
    assert rows["easy"]["rate"] == rows["all"]["rate"] == 0.6
    assert list(rows) == ["all", "too", "easy"], "behind on the same tasks"
    assert {row["rank_low"] for row in rows.values()} == {1}
    partial = (
        "Its rate covers 25 of the board's 30 tasks. The others resolved 70.0% of those tasks and 58.3% of all tasks."
    )
    assert (rows["easy"]["partial"], rows["all"]["partial"], rows["too"]["partial"]) == (partial, "", "")
    assert f"easy: {partial}" in leaderboard_remarks(list(rows.values()))


def test_no_warning_when_missing_tasks_are_of_average_difficulty(store: Store) -> None:
    played(store, {"all": "+-" * 15, "most": "+-" * 14, "other": "-+" * 15})
    rows = board(store)
    assert rows["most"]["tasks"] == 28 and not any(row["partial"] for row in rows.values())


def test_a_mean_lead_agrees_with_single_pairs() -> None:
    dice = numpy.random.default_rng(4)
    counted = dice.integers(0, 3, (4, 25))
    resolved = dice.binomial(counted, 0.4)
    leads, elsewhere = stats.mean_leads(resolved, counted)
    for entrant in range(4):
        gaps, rates_on_shared, everywhere = [], [], []
        for opponent in set(range(4)) - {entrant}:
            is_shared = (counted[entrant] > 0) & (counted[opponent] > 0)
            rates = [resolved[side][is_shared] / counted[side][is_shared] for side in (entrant, opponent)]
            gaps.append((rates[0] - rates[1]).mean())
            rates_on_shared.append(rates[1].mean())
            is_played = counted[opponent] > 0
            everywhere.append((resolved[opponent][is_played] / counted[opponent][is_played]).mean())
        assert leads[entrant] == pytest.approx(numpy.mean(gaps))
        assert elsewhere[entrant] == (
            (counted[entrant] > 0).sum(),
            pytest.approx(numpy.mean(rates_on_shared)),
            pytest.approx(numpy.mean(everywhere)),
        )


def test_unbalanced_errors_are_warned_of(store: Store) -> None:
    played(store, {"sound": "+-" * 15, "broken": "+-" * 10 + "!" * 10})
    rows = board(store)
    assert (
        rows["sound"]["warning"] == "" and "10 of 30 episodes ended in an error, more than" in rows["broken"]["warning"]
    )
    comparison = queries.compare(store.engine, "sound", "broken")
    assert (comparison["tasks"], comparison["first"]["errors"], comparison["second"]["errors"]) == (20, 0, 10), (
        "not 0 of the shared"
    )
    assert "sound: " not in comparison["warning"] and "broken: 10 of 30" in comparison["warning"]


def test_an_interval_over_categories_is_never_narrower(store: Store) -> None:
    # In every category the second is ahead by one task of five: as clusters they agree perfectly.
    played(store, {"one": "-----" * 6, "two": "+----" * 6})
    comparison = queries.compare(store.engine, "one", "two")
    assert comparison["clusters"] == 6 and comparison["cluster_sentence"].endswith("the interval is no wider.")
    assert (comparison["cluster_low"], comparison["cluster_high"]) == (comparison["ci_low"], comparison["ci_high"])


def test_pass_at_k_stops_when_too_few_tasks_have_k_attempts(store: Store) -> None:
    played(store, {"one": "+" * 15 + "-" * 15, "two": ("+" * 15 + "-" * 15) * 2})
    for _ in range(2):
        played(store, {"one": " " * 26 + "----"})
    rows = [(row["entrant"], row["k"], row["tasks"]) for row in queries.reliability(store.engine)]
    assert rows == [("one", 1, 30), ("two", 1, 30), ("two", 2, 30)]


@pytest.mark.parametrize("by", ["steps", "cost_usd"])
def test_budget_curves_and_pass_at_1_end_at_the_rate_of_the_board(store: Store, by: Any) -> None:
    played(store, {"one": "+" * 10 + "-" * 10, "two": "-" * 10 + "+" * 10, "three": "+" * 5 + "-" * 15 + "+" * 10})
    rates = {name: row["rate"] for name, row in board(store).items()}
    assert rates["three"] == 0.25, "on the tasks that most have played"
    curves = {row["entrant"]: row["curve"][-1][1] for row in queries.budget_curves(store.engine, by=by)}
    assert curves == pytest.approx(rates)
    assert {row["entrant"]: row["pass_at_k"] for row in queries.reliability(store.engine)} == pytest.approx(rates)


def test_a_task_page_pools_the_same_runs_as_boards(store: Store) -> None:
    usual = played(store, {"one": "+" * 60})
    smoke = played(store, {"one": "-" * 30}, conditions={"steps": 3})
    cancelled = played(store, {"one": "-" * 30}, status="cancelled")
    second_run = played(store, {"one": "+" * 30})
    task = queries.task_rates(store.engine)[0]["task_id"]
    board = queries.task_board(store.engine, task, limit=3)
    assert (board["resolved"], board["unresolved"], board["rate"]) == (3, 0, 1.0), "whatever the limit"
    assert [(row["run_id"], row["in_scope"]) for row in board["episodes"]] == [
        (second_run, True), (cancelled, False), (smoke, False),
    ]  # fmt: skip
    assert [attempt["run_id"] for attempt in board["entrants"][0]["attempts"]] == [second_run]
    assert f"runs {usual}, {second_run} (finished" in board["scope"]["sentence"]
    smoke_board = queries.task_board(store.engine, task, Scope(run=smoke))
    assert (smoke_board["rate"], smoke_board["unresolved"]) == (0.0, 1)


def test_a_gate_never_judges_an_earlier_run_instead_of_the_newest(store: Store) -> None:
    first = played(store, {"a": "+" * 30}, leaderboard="main")
    second = played(store, {"a": "+" * 30}, leaderboard="main")
    other_run = played(store, {"a": "-" * 30}, leaderboard="tries")

    def judged(scope: Scope) -> Any:
        return queries.gate(store.engine, "a", "a", 0.1, scope, baseline=str(first))

    assert judged(Scope(series="main"))["run"] == second, "what is asked for counts"
    assert judged(Scope())["run"] == other_run and f"now in run {other_run}" in judged(Scope())["sentence"]
    running = played(store, {"a": "+" * 10}, leaderboard="main", status="running")
    sentence = rf"newest run, {running} .* has not finished \(running\): .* --run.* --all"
    with pytest.raises(NotComparable, match=sentence):
        judged(Scope(series="main"))
    assert judged(Scope(series="main", finished_only=False))["run"] == running
    assert judged(Scope(run=second))["run"] == second
    with pytest.raises(NotFound, match="No run matches"):
        judged(Scope(series="nowhere"))


def test_mean_costs_come_from_runs_with_the_same_limits(store: Store) -> None:
    played(store, {"a": "+" * 30}, cost=2.0, conditions={"steps": 50})
    played(store, {"a": "-" * 30, "b": "-" * 30}, cost=0.02, conditions={"steps": 3})
    means = [
        (row["called"], row["same_limits"], round(row["cost_usd"] or 0, 9))
        for row in episode_means(store.engine, "bugs", {"steps": 50})
    ]
    assert means == [("a", 1, 2.0), ("b", 0, 0.02), ("a", 0, 0.02)]
    assert [row["cost_usd"] for row in episode_means(store.engine, "bugs") if row["called"] == "a"] == [
        pytest.approx(1.01)
    ]


def test_only_errors_give_rate_0_when_counted_as_failures(store: Store) -> None:
    played(store, {"one": "!" * 30, "two": "+" * 30})
    comparison = queries.compare(store.engine, "one", "two", Scope(errors=ErrorsAre.AS_FAILURES))
    assert (comparison["first"]["rate"], comparison["first"]["steps_mean"], comparison["first"]["errors"]) == (
        0.0,
        None,
        30,
    )


def test_failure_shares_weigh_tasks_like_the_leaderboard(store: Store) -> None:
    played(store, {"one": "+" * 15 + "-" * 14 + "!", "two": "+" * 30})
    for _ in range(3):
        played(store, {"one": " " * 15 + "-" * 15})
    rate = board(store)["one"]["rate"]
    assert rate == 0.5
    (only_row,) = [row for row in queries.failure_points(store.engine) if row["entrant"] == "one"]
    assert (only_row["resolved"], only_row["unresolved"], only_row["shares"]) == (
        15, 59, pytest.approx({"resolved": rate, "unknown": 0.5}),
    )  # fmt: skip
    (row,) = [row for row in queries.funnel(store.engine) if row["entrant"] == "one"]
    assert (row["resolved"], row["counted"], row["shares"]["resolved"]) == (15, 74, pytest.approx(rate))
    bar_lengths = {bar.name: bar.x[0] for bar in charts.failure_bars([only_row]).data}
    assert bar_lengths == pytest.approx(only_row["shares"])
    (point,) = charts.funnel([row], ["resolved"])["data"]["values"]
    assert point["share"] == pytest.approx(rate)
