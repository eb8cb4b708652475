"""Episodes that ended in an error: what they may hide is said, and they can be counted as failures."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.queries import Scope
from stackrank.db.writes.store import Store
from stackrank.terms import ErrorsAre
from tests.support.episodes import create_episodes, start

TASKS = 60
FAILED = ErrorsAre.AS_FAILURES


@pytest.fixture
def lifted(store: Store) -> Store:
    """Two entrants as good as each other; the second one's hard failing episodes end in errors."""
    tasks = [{"name": f"t{n:02}", "digest": f"d{n}"} for n in range(TASKS)]
    benchmark = store.save_benchmark(name="bugs", digest="b", license="", source="", tasks=tasks)
    run = store.create_run(name="r", benchmark_id=benchmark.id, spec={})
    for name in ("one", "two"):
        entrant = store.save_entrant(digest=name, name=name, agent="a")
        cells = [(task, entrant, 1) for task in benchmark.task_ids.values()]
        for number, episode in enumerate(create_episodes(store, run, cells).values()):
            start(store, episode)
            if name == "two" and number >= 45:
                store.finish_episode(episode, verdict="error", stop_reason="error", error="no sandbox")
            else:
                verdict = "resolved" if number < 30 else "unresolved"
                store.finish_episode(episode, verdict=verdict, stop_reason="submitted", cost_usd=0.1)
    store.end_run(run, "finished")
    return store


def test_errors_that_favour_an_entrant_cause_a_warning(engine: Engine, lifted: Store) -> None:
    assert lifted
    board = {row["entrant"]: row for row in queries.leaderboard(engine)}
    two = board["two"]
    assert two["rate"] == pytest.approx(30 / 45) and board["one"]["rate"] == 0.5
    assert (two["rate_errors_fail"], two["rate_errors_pass"]) == (0.5, pytest.approx(45 / 60))
    assert (two["rank_low"], two["rank_high"]) == (1, 2), "on common tasks they are level"
    assert two["warning"].startswith("15 of 60 episodes ended in an error") and "50.0%" in two["warning"]
    comparison = queries.compare(engine, "one", "two")
    assert comparison["difference"] == 0 and "two: 15 of 60" in comparison["warning"]


def test_errors_as_failures(engine: Engine, lifted: Store) -> None:
    assert lifted
    scope = Scope(errors=FAILED)
    first, second = sorted(queries.leaderboard(engine, scope), key=lambda row: row["entrant"])
    assert (first["rate"], second["rate"]) == (0.5, 0.5)
    assert (second["resolved"], second["unresolved"], second["errors"], second["episodes"]) == (30, 15, 15, TASKS)
    assert second["cost_per_episode"] == pytest.approx(0.1), "of those with a verdict of its own"
    comparison = queries.compare(engine, "one", "two", scope)
    assert (comparison["tasks"], comparison["difference"]) == (TASKS, 0)
    assert queries.rate_history(engine, scope)[second["entrant_id"]] == [0.5]
    assert queries.budget_curves(engine, scope)[1]["curve"][-1][1] == pytest.approx(0.5)
    assert "counted as failures: two 15" in queries.describe_scope(engine, scope)["sentence"]


def test_an_answer_that_errors_would_change_causes_a_warning(engine: Engine, store: Store) -> None:
    """Nine errors of either side: balanced, and yet as failures they would hide who is ahead."""
    tasks = [{"name": f"t{n:02}", "digest": f"d{n}"} for n in range(40)]
    benchmark = store.save_benchmark(name="bugs", digest="b", license="", source="", tasks=tasks)
    run = store.create_run(name="r", benchmark_id=benchmark.id, spec={})
    for name, resolved, failed in (("one", range(10), range(30, 39)), ("two", range(19), range(4))):
        entrant = store.save_entrant(digest=name, name=name, agent="a")
        cells = [(task, entrant, 1) for task in benchmark.task_ids.values()]
        for number, episode in enumerate(create_episodes(store, run, cells).values()):
            start(store, episode)
            verdict = "error" if number in failed else "resolved" if number in resolved else "unresolved"
            store.finish_episode(episode, verdict=verdict, stop_reason="submitted" if verdict != "error" else "error")
    store.end_run(run, "finished")
    comparison = queries.compare(engine, "one", "two")
    assert (
        comparison["p_value"] < 0.05
        and "With errors counted as failures the difference is +12.5 points" in comparison["warning"]
    )


def test_an_entrant_with_few_tasks_has_no_rank_and_a_reason(engine: Engine, lifted: Store) -> None:
    easy = lifted.save_entrant(digest="easy", name="easy", agent="a")
    run = queries.runs(engine)[0]
    tasks = [row["id"] for row in queries.tasks(engine, "bugs")][:12]
    later_run = lifted.create_run(name="r", benchmark_id=run["benchmark_id"], spec={})
    for episode in create_episodes(lifted, later_run, [(task, easy, 1) for task in tasks]).values():
        start(lifted, episode)
        lifted.finish_episode(episode, verdict="resolved", stop_reason="submitted")
    lifted.end_run(later_run, "finished")
    last = queries.leaderboard(engine)[-1]
    assert (last["entrant"], last["rate"], last["rank_low"]) == ("easy", 1.0, None)
    assert last["apart"] == "It played 12 of the 60 tasks that the others are ranked on, too few to be ranked."
