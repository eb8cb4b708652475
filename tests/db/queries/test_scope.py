"""What is put beside what: one benchmark version, equal conditions, finished runs; and every board says so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from stackrank.db import queries
from stackrank.db.connection.errors import NotComparable, NotFound
from stackrank.db.queries import Scope
from stackrank.db.writes.store import Store
from stackrank.terms import RunStatus
from tests.db.storage.test_identity import KNOWN
from tests.support.episodes import create_episodes, start

TASKS = tuple(f"t{n}" for n in range(4))


class Runs:
    """Makes runs of one or more entrants, with so many tasks resolved by each."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def entrant(self, name: str, **columns: Any) -> int:
        columns = {"digest": name, "agent": "repair", **columns}
        return self.store.save_entrant(name=name, **columns)

    def __call__(
        self,
        resolved: Mapping[str, int],
        *,
        benchmark: str = "bugs",
        version: str = "v1",
        conditions: Mapping[str, Any] | None = None,
        status: str = RunStatus.FINISHED,
        tasks: tuple[str, ...] = TASKS,
        cost: float | None = 0.5,
        **columns: Any,
    ) -> int:
        rows = [{"name": task, "digest": f"{benchmark}/{task}"} for task in TASKS]
        saved = self.store.save_benchmark(name=benchmark, digest=version, license="", source="", tasks=rows)
        entrants = {self.entrant(name): count for name, count in resolved.items()}
        cells = [(saved.task_ids[task], entrant, 1) for task in tasks for entrant in entrants]
        run = self.store.create_run(
            **{"name": "r", "spec": {}, **columns},
            benchmark_id=saved.id,
            conditions={**KNOWN, **(conditions or {})},
            cells=cells if status != RunStatus.PENDING else (),
        )
        if status == RunStatus.PENDING:
            return run
        self.store.start_run(run)
        remaining = dict(entrants)
        for (_, entrant, _), episode in create_episodes(self.store, run, cells).items():
            start(self.store, episode)
            verdict = "resolved" if remaining[entrant] > 0 else "unresolved"
            remaining[entrant] -= 1
            self.store.finish_episode(episode, verdict=verdict, stop_reason="submitted", cost_usd=cost, steps=3)
        if status != RunStatus.RUNNING:
            self.store.end_run(run, status)
        return run


@pytest.fixture
def runs(store: Store) -> Runs:
    return Runs(store)


def rates(store: Store, scope: Scope | None = None) -> dict[str, float | None]:
    return {row["entrant"]: row["rate"] for row in queries.leaderboard(store.engine, scope or Scope())}


def test_an_empty_database_says_what_to_do(store: Store) -> None:
    board = queries.board(store.engine)
    assert (board["entrants"], board["reference"], board["scope"]["runs"]) == ([], [], [])
    assert "stackrank run" in board["scope"]["sentence"]
    assert "series nowhere" in queries.describe_scope(store.engine, Scope(series="nowhere"))["sentence"]


def test_two_private_sets_are_two_benchmarks(store: Store, runs: Runs) -> None:
    shop = runs({"a": 4}, benchmark="repo/shop")
    blog = runs({"a": 0}, benchmark="repo/blog")
    retry = runs({"a": 4}, benchmark="repo/shop")
    board = queries.board(store.engine)
    assert board["entrants"][0]["rate"] == 1.0
    assert [run["run"] for run in board["scope"]["runs"]] == [shop, retry]
    assert board["scope"]["apart"] == [{"why": "different benchmark repo/blog", "runs": [blog]}]
    for ref in ("repo/blog", "blog"):
        assert rates(store, Scope(benchmark=ref)) == {"a": 0.0}
    with pytest.raises(NotComparable, match=r"repo matches 2 benchmarks, .* repo/blog, repo/shop"):
        queries.leaderboard(store.engine, Scope(benchmark="repo"))
    assert rates(store, Scope(benchmark="shopping")) == {}
    assert rates(store, Scope(run=blog, benchmark="blog")) == {"a": 0.0}
    for other_run in (Scope(run=blog, benchmark="shop"), Scope(run=[shop, retry], series="nightly")):
        with pytest.raises(NotFound, match=r"Run \d+ does not match the other filters \(benchmark"):
            queries.leaderboard(store.engine, other_run)


def test_runs_under_other_conditions_are_excluded(store: Store, runs: Runs) -> None:
    nightly = runs({"a": 4, "b": 3})
    smoke = runs({"a": 0, "b": 0}, conditions={"steps": 3, "sandbox": "local"}, tags=["smoke"])
    usual = runs({"a": 4, "b": 3})
    board = queries.board(store.engine)
    assert {row["entrant"]: row["rate"] for row in board["entrants"]} == {"a": 1.0, "b": 0.75}
    other_run = queries.run(store.engine, smoke)["conditions_digest"]
    reason = f"different conditions {other_run[:8]}: steps 3 instead of 50, sandbox local instead of docker"
    assert board["scope"]["apart"] == [{"why": reason, "runs": [smoke]}]
    assert queries.exclusion_sentence(board["scope"]) == f"Not included: run {smoke} ({reason})."
    assert f"runs {nightly}, {usual} (finished" in board["scope"]["sentence"]
    assert rates(store, Scope(conditions=other_run[:6])) == rates(store, Scope(tags="smoke")) == {"a": 0.0, "b": 0.0}
    with pytest.raises(NotComparable, match="steps 3 instead of 50"):
        queries.leaderboard(store.engine, Scope(run=[nightly, smoke]))
    assert queries.compare(store.engine, "a", "b")["difference"] == pytest.approx(-0.25)


def test_an_entrant_of_excluded_runs_only_is_not_compared(store: Store, runs: Runs) -> None:
    smoke = runs({"c": 4}, conditions={"steps": 3})
    usual = runs({"a": 2})
    with pytest.raises(NotComparable, match=rf"c played run {smoke}, .* run {usual} .*steps 3 instead of 50"):
        queries.compare(store.engine, "a", "c")
    with pytest.raises(NotFound, match="No entrant 'nobody'"):
        queries.compare(store.engine, "a", "nobody")


@pytest.mark.parametrize("field", KNOWN)
def test_any_differing_or_unknown_condition_excludes_a_run(store: Store, runs: Runs, field: str) -> None:
    first = runs({"a": 4}, conditions={field: "unknown"})
    runs({"a": 0})
    assert rates(store) == {"a": 0.0}
    assert [row["runs"] for row in queries.board(store.engine)["scope"]["apart"]] == [[first]]
    second = runs({"a": 2}, conditions={field: "unknown"})
    assert rates(store) == {"a": 0.75}, "what is unknown is pooled with itself"
    assert [run["run"] for run in queries.board(store.engine)["scope"]["runs"]] == [first, second]


def test_runs_that_have_not_finished_change_nothing(store: Store, runs: Runs) -> None:
    finished = runs({"a": 4})
    cancelled = runs({"a": 0}, status=RunStatus.CANCELLED)
    failed = runs({"a": 0}, status=RunStatus.FAILED)
    going = runs({"a": 0}, status=RunStatus.RUNNING)
    pending = runs({"a": 0}, status=RunStatus.PENDING, benchmark="repo/next")
    board = queries.board(store.engine)
    assert rates(store) == {"a": 1.0} and [run["run"] for run in board["scope"]["runs"]] == [finished]
    assert board["scope"]["apart"] == [
        {"why": "different benchmark repo/next", "runs": [pending]},
        {"why": "status running", "runs": [going]},
        {"why": "status failed", "runs": [failed]},
        {"why": "status cancelled", "runs": [cancelled]},
    ]
    assert rates(store, Scope(finished_only=False)) == {"a": 0.25}
    sentence = queries.describe_scope(store.engine, Scope(finished_only=False))["sentence"]
    assert "1 running, 1 failed, 1 cancelled, 1 finished" in sentence or "finished" in sentence
    assert rates(store, Scope(run=going)) == {"a": 0.0}
    assert "(running" in queries.describe_scope(store.engine, Scope(run=going))["sentence"]


def test_a_board_without_finished_runs_is_provisional(store: Store, runs: Runs) -> None:
    runs.entrant("oracle", agent="oracle", reference=True)
    runs({"oracle": 4}, benchmark="repo/next")  # finished, but nobody competes in it
    going = runs({"a": 1}, status=RunStatus.RUNNING)
    board = queries.board(store.engine)
    assert [(row["entrant"], row["rate"]) for row in board["entrants"]] == [("a", 0.25)]
    assert board["scope"]["provisional"] and board["scope"]["sentence"].startswith(f"Provisional: bugs v1, run {going}")
    finished = runs({"a": 4})
    board = queries.board(store.engine)
    assert not board["scope"]["provisional"] and [run["run"] for run in board["scope"]["runs"]] == [finished]
    assert rates(store) == {"a": 1.0}, "an unfinished run no longer counts"
    assert queries.board(store.engine, Scope(finished_only=False))["scope"]["provisional"]


def test_a_scope_of_a_person(store: Store, runs: Runs) -> None:
    mine, other = runs({"a": 1}, owner="ada"), runs({"a": 4}, owner="bob")
    assert rates(store, Scope(owner="ada")) == {"a": 0.25}
    assert Scope(owner="ada").run_ids(store.engine) == [mine] and Scope().run_ids(store.engine) is None
    assert Scope(last=1).run_ids(store.engine) == Scope(run=other).run_ids(store.engine) == [other]
    assert "owner eve" in queries.describe_scope(store.engine, Scope(owner="eve"))["sentence"]
    assert [row["run_id"] for row in queries.episodes(store.engine, scope=Scope(owner="bob"))] == [other] * 4
    assert queries.count_matches(store.engine, "verdict:resolved", scope=Scope(owner="ada")) == 1
    assert queries.count_matches(store.engine, "", entrant="a", scope=Scope()) == 8
    assert queries.count_matches(store.engine, "text:x") == queries.count_matches(store.engine, "")
    assert queries.asks_for_text("text:x") and not queries.asks_for_text("verdict:resolved")


def test_reference_entrants_are_listed_separately(store: Store, runs: Runs) -> None:
    runs.entrant("oracle", agent="oracle", reference=True)
    runs.entrant("by hand", agent="human", reference=True)
    runs({"a": 1, "b": 3, "oracle": 4})
    runs({"by hand": 4}, conditions={"steps": 10_000})  # a person's run does not lead the board
    board = queries.board(store.engine)
    assert [(row["entrant"], row["rank_low"] is None) for row in board["entrants"]] == [("b", False), ("a", False)]
    assert max(row["rank_high"] or 0 for row in board["entrants"]) == 2
    (oracle,) = board["reference"]
    assert (oracle["entrant"], oracle["rate"], oracle["rank_low"], oracle["reference"]) == ("oracle", 1.0, None, True)
    assert board["scope"]["entrants"] == 2
    summary = queries.run_summary(store.engine, 1)
    assert [(row["entrant"], row["reference"]) for row in summary["entrants"]][-1] == ("oracle", True)
    json.dumps(board, allow_nan=False)


def test_common_tasks_are_those_that_all_ranked_entrants_played(store: Store, runs: Runs) -> None:
    runs.entrant("oracle", agent="oracle", reference=True)
    runs({"a": 1})
    runs({"b": 1}, tasks=TASKS[:3])
    runs({"oracle": 1}, tasks=TASKS[:1])
    scope = queries.board(store.engine)["scope"]
    assert (scope["common_tasks"], scope["tasks"], scope["entrants"]) == (3, 4, 2)
    assert "3 tasks played by both entrants, of 4 in the benchmark" in scope["sentence"]
    assert "4 tasks (3 played by all)" in queries.scope_in_short(scope)


def test_rate_history_skips_runs_with_few_tasks(store: Store, runs: Runs) -> None:
    runs({"a": 2})
    runs({"a": 1}, tasks=TASKS[:1])
    runs({"a": 3})
    assert queries.rate_history(store.engine) == {1: [0.5, 0.75]}, "1 of 1 is not better than 2 of 4"


def test_a_gate_says_that_a_run_has_not_finished(store: Store, runs: Runs) -> None:
    cut_off, complete_run = runs({"a": 1}, tasks=TASKS[:1], status=RunStatus.CANCELLED), runs({"a": 4})
    for baseline, run in ((cut_off, complete_run), (complete_run, cut_off)):
        judged = queries.gate(store.engine, "a", "a", 0.1, Scope(run=run), baseline=str(baseline))
        assert f"Run {cut_off} has not finished (cancelled)" in judged["warning"]
        assert f"Run {complete_run}" not in judged["warning"]


def test_invalid_tasks_are_excluded(store: Store, runs: Runs) -> None:
    run = runs({"a": 2})
    store.save_validation(1, {"t0": (False, "passes as given")})
    for scope in (Scope(), Scope(run=run)):
        (row,) = queries.leaderboard(store.engine, scope)
        assert (row["episodes"], row["resolved"], row["cost_usd"]) == (3, 1, 1.5)
        description = queries.describe_scope(store.engine, scope)
        assert (description["invalid_tasks"], description["invalid_episodes"], description["invalid_usd"]) == (
            ["t0"],
            1,
            0.5,
        )
        assert "invalid tasks are excluded: t0 (1 episode, $0.5000)" in description["sentence"]
        assert queries.rate_history(store.engine, scope) == {1: [pytest.approx(1 / 3)]}
    assert queries.run_summary(store.engine, run)["entrants"][0]["resolved"] == 1


def test_cost_includes_errors_and_repeated_tries(store: Store, runs: Runs) -> None:
    run = runs({"a": 4}, tasks=TASKS[:1], cost=0.5, status=RunStatus.RUNNING)
    task = queries.tasks(store.engine, 1)[1]["id"]
    ((_, episode),) = create_episodes(store, run, [(task, 1, 1)]).items()
    for _ in range(2):
        start(store, episode)
        store.finish_episode(episode, verdict="error", stop_reason="error", cost_usd=5.0, tokens_in=9, error="gone")
        retry = store.retry_episode(episode, afresh=True)
        assert retry is not None
        episode = retry["id"]
    start(store, episode)
    store.finish_episode(episode, verdict="error", stop_reason="error", cost_usd=None, error="no sandbox")
    (row,) = queries.leaderboard(store.engine, Scope(run=run))
    assert (row["cost_usd"], row["cost_per_episode"], row["cost_per_resolved"]) == (10.5, 0.5, 0.5)
    assert row["cost_usd"] == queries.run(store.engine, run)["cost_usd"]
    assert (row["episodes"], row["errors"]) == (2, 1)


def test_an_unknown_price_of_a_repeated_try_makes_the_sum_unknown(store: Store, runs: Runs) -> None:
    run = runs({"a": 4}, tasks=TASKS[:1], status=RunStatus.RUNNING)
    task = queries.tasks(store.engine, 1)[1]["id"]
    ((_, episode),) = create_episodes(store, run, [(task, 1, 1)]).items()
    start(store, episode)
    store.finish_episode(episode, verdict="error", stop_reason="error", cost_usd=None, tokens_in=9, error="gone")
    assert store.retry_episode(episode, afresh=True) is not None
    (row,) = queries.leaderboard(store.engine, Scope(run=run))
    assert (row["cost_usd"], row["cost_per_episode"]) == (None, 0.5)


def test_an_entrant_is_not_compared_with_itself(store: Store, runs: Runs) -> None:
    runs.entrant("x", digest="x1", agent_version="1")
    runs({"a": 1, "x": 2})
    with pytest.raises(NotComparable, match=r"a is named twice, .*: name two different ones"):
        queries.compare(store.engine, "a", "a")
    with pytest.raises(NotComparable, match="named twice"):
        queries.compare(store.engine, "a", queries.entrants(store.engine, name="a")[0]["id"])


def test_two_versions_of_an_agent_are_compared_by_their_names(store: Store, runs: Runs) -> None:
    rows = {version: {"digest": f"x{version}", "agent_version": version} for version in "12"}
    ids = {version: runs.entrant("x", **columns) for version, columns in rows.items()}
    saved = store.save_benchmark(
        name="bugs", digest="v1", license="", source="", tasks=[{"name": task, "digest": task} for task in TASKS]
    )
    for version, entrant in ids.items():
        run = store.create_run(name="r", spec={}, benchmark_id=saved.id, conditions=KNOWN)
        for episode in create_episodes(store, run, [(task, entrant, 1) for task in saved.task_ids.values()]).values():
            start(store, episode)
            store.finish_episode(episode, verdict="resolved" if version == "2" else "unresolved", stop_reason="solved")
        store.end_run(run, "finished")
    assert rates(store) == {"x": 1.0, "x, version 1": 0.0}
    comparison = queries.compare(store.engine, "x, version 1", "x")
    assert comparison["difference"] == 1.0 and comparison["differs"]["agent_version"] == ["1", "2"]
    with pytest.raises(NotComparable, match="other entrants with that name are x, version 1"):
        queries.compare(store.engine, "x", "x")


def test_earlier_runs_belong_to_the_same_series(store: Store, runs: Runs) -> None:
    def changes(run: int) -> list[tuple[int, float]]:
        return [(row["before"], row["difference"]) for row in queries.changes(store.engine, run)]

    first = runs({"a": 4}, name="nightly-2026-11-01-0300", schedule="nightly")
    assert changes(first) == []
    runs({"a": 4}, name="nightly-2026-11-02-0300", schedule="nightly", conditions={"steps": 3})
    runs({"a": 4}, name="weekly-2026-11-02-0400", schedule="weekly")
    runs({"a": 4}, name="nightly-2026-11-02-0300", schedule="nightly", version="v2")
    runs({"a": 4}, name="nightly-2026-11-02-0300", schedule="nightly", status=RunStatus.CANCELLED)
    last = runs({"a": 1}, name="nightly-2026-11-03-0300", schedule="nightly")
    assert changes(last) == [(first, -0.75)]
    by_hand = [runs({"a": 1}, name="bugs-2026-11-03-0300") for _ in range(2)]
    assert changes(by_hand[1]) == [], "a run without a series follows nothing"


def test_a_new_agent_version_is_compared_with_the_old_one(store: Store, runs: Runs) -> None:
    earlier_run = runs({"x": 4}, leaderboard="board")
    runs.entrant("x", digest="x2", agent_version="2")
    saved = queries.tasks(store.engine, 1)
    run = store.create_run(name="r", spec={}, benchmark_id=1, conditions=KNOWN, leaderboard="board")
    for episode in create_episodes(store, run, [(task["id"], 2, 1) for task in saved]).values():
        start(store, episode)
        store.finish_episode(episode, verdict="error", stop_reason="error", error="gone")
    (comparison,) = queries.regressions(store.engine, run)
    assert (comparison["what"], comparison["before"]) == ("errors", earlier_run)
