"""Two runs task by task, on both databases."""

from __future__ import annotations

from typing import Any

import pytest

from stackrank.db import queries
from stackrank.db.connection.errors import NotFound
from stackrank.db.totals import tallies
from stackrank.db.writes.store import Store
from tests.support.episodes import create_episodes, start

TASKS = [f"t{number}" for number in range(12)]


def play(
    store: Store, run: str, results: dict[str, dict[str, list[str]]], *, version: str = "b", **options: Any
) -> int:
    """A run in which entrants (told by a digest; all called by its first letter) had these verdicts on these tasks."""
    names = sorted({task for tasks in results.values() for task in tasks})
    tasks = [{"name": name, "digest": f"{name} {version if name == 't0' else ''}"} for name in names]
    benchmark = store.save_benchmark(name="bugs", digest=version, license="", source="", tasks=tasks)
    entrants = {digest: store.save_entrant(digest=digest, name=digest[0], agent="a") for digest in results}
    number = store.create_run(name=run, benchmark_id=benchmark.id, spec={}, **options)
    cells = {
        (benchmark.task_ids[task], entrants[digest], attempt): verdict
        for digest, played in results.items()
        for task, verdicts in played.items()
        for attempt, verdict in enumerate(verdicts, 1)
    }
    for cell, episode in create_episodes(store, number, cells).items():
        start(store, episode)
        store.finish_episode(episode, verdict=cells[cell], stop_reason="submitted")
    return number


def all_of(verdict: str, tasks: list[str] = TASKS) -> dict[str, list[str]]:
    return {task: [verdict] for task in tasks}


def test_worse_entrants_and_their_tasks_are_listed(store: Store) -> None:
    good, bad = all_of("resolved"), all_of("unresolved")
    first = play(store, "first", {"x": good, "y": good})
    second = play(store, "second", {"x": bad | {"t1": ["resolved"]}, "y": good | {"t2": ["unresolved"]}})
    pair = queries.run_pair(store.engine, second, "first")  # whichever is named first
    assert (pair["first"], pair["second"], pair["apart"]) == (first, second, "")
    sentence = pair["sentence"]
    assert sentence.startswith("x is worse than before (100.0% -> 8.3%): -91.7 points ("), sentence
    assert sentence.endswith("; no clear difference for 1 of 2 entrants; 12 task results got worse, 0 got better."), (
        "t2 counts for both, as in the rows of the entrants"
    )
    assert [(row["entrant"], row["worse"], row["better"], row["sure"]) for row in pair["entrants"]] == [
        ("x", 11, 0, True), ("y", 1, 0, False),
    ]  # fmt: skip
    assert len(pair["worse"]) == 12 and pair["better"] == []
    for flip in pair["worse"]:
        old_episode, new_episode = (queries.episode(store.engine, flip[side]) for side in ("episode_before", "episode"))
        assert (old_episode["run_id"], old_episode["verdict"], new_episode["run_id"], new_episode["verdict"]) == (
            first, "resolved", second, "unresolved",
        )  # fmt: skip
        assert (
            old_episode["task"] == new_episode["task"] == flip["task"]
            and old_episode["entrant"] == new_episode["entrant"] == flip["entrant"]
        )


def test_attempts_errors_and_missing_tasks_of_a_run_pair(store: Store) -> None:
    play(
        store,
        "r1",
        {"x": {"t1": ["resolved", "unresolved"], "t2": ["error"], "t3": ["resolved"]}, "z": {"t1": ["resolved"]}},
    )
    play(store, "r2", {"x": {"t1": ["resolved", "resolved"], "t2": ["resolved"], "t4": ["resolved"]}})
    pair = queries.run_pair(store.engine, "r1", "r2")
    assert [(row["entrant"], row["tasks"]) for row in pair["entrants"]] == [("x", 1)]
    (flip,) = pair["better"]
    assert (flip["task"], flip["before"], flip["now"], flip["difference"]) == ("t1", "1 of 2", "2 of 2", 0.5)
    assert queries.episode(store.engine, flip["episode_before"])["verdict"] == "unresolved"
    assert pair["sentence"].startswith("No clear difference for any entrant; ")


def test_new_versions_of_an_entrant_and_of_a_task(store: Store) -> None:
    play(store, "old", {"x1": all_of("resolved"), "v1": all_of("resolved"), "v2": all_of("resolved")})
    new = {"x2": all_of("resolved"), "v3": all_of("resolved")}
    play(store, "new", new, version="c", conditions={"steps": 3})
    pair = queries.run_pair(store.engine, "old", "new")
    assert [(row["entrant"], row["tasks"]) for row in pair["entrants"]] == [("x", 11)], "which v is meant is not known"
    assert "different benchmarks or versions" in pair["apart"] and "steps 3 instead of" in pair["apart"]


def test_runs_that_have_nothing_in_common(store: Store) -> None:
    play(store, "one", {"x": {"t1": ["resolved"]}})
    play(store, "two", {"x": {"t2": ["resolved"]}})
    pair = queries.run_pair(store.engine, "one", "two")
    assert pair["entrants"] == [] and "on the same task in both runs" in pair["sentence"]
    assert queries.run_pair(store.engine, "one", "one")["worse"] == []
    with pytest.raises(NotFound):
        queries.run_pair(store.engine, "one", "three")


def test_runs_are_set_against_the_finished_ones_before_them(store: Store) -> None:
    good, bad = all_of("resolved"), all_of("unresolved")
    half = good | all_of("unresolved", TASKS[6:])
    night = {"leaderboard": "nightly"}
    first = play(store, "first", {"x": good, "y": half}, **night)
    play(store, "other", {"x": bad}, leaderboard="weekly")
    second = play(store, "second", {"x": half, "z": bad}, **night)
    third = play(store, "third", {"x": good, "z": good}, **night)
    for run in (first, second):
        store.end_run(run, "finished")
    ids = [row["id"] for row in queries.runs(store.engine)]
    (change,) = queries.against_previous(store.engine, ids).items()
    assert change == (second, (first, -0.5, ("x",), ())), "over x, and the third goes on"
    store.end_run(third, "finished")
    for of_episodes in (False, True):
        if of_episodes:
            with store.engine.begin() as connection:
                tallies.forget(connection, [second, third])
        found = queries.against_previous(store.engine, [third])
        assert found == {third: (second, 0.75, (), ("x", "z"))}, "over the episodes of x and z"
    clear = [row["entrant"] for row in queries.run_pair(store.engine, second, third)["entrants"] if row["sure"]]
    assert sorted(clear) == ["x", "z"], "by the same test"
    assert queries.against_previous(store.engine, []) == {}
