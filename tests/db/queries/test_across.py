"""One entrant under two conditions that differ in one field: everything else has to be equal."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.connection.errors import NotComparable, NotFound
from stackrank.db.queries import Scope
from stackrank.db.writes.store import Store
from tests.support.episodes import create_episodes, start

USUAL: dict[str, Any] = {"steps": 50, "sandbox": "docker", "shows_failure_state": False}


def played(store: Store, outcomes: str, entrants: tuple[str, ...] = ("one",), digest: str = "b", **changed: Any) -> int:
    """Play a run in which `+` is a resolved task, under the usual conditions but those named."""
    tasks = [{"name": f"task-{number:02}", "digest": f"d{number}"} for number in range(len(outcomes))]
    saved = store.save_benchmark(name="bugs", digest=digest, license="", source="", tasks=tasks)
    run = store.create_run(name="r", benchmark_id=saved.id, spec={}, conditions={**USUAL, **changed})
    store.start_run(run)
    for name in entrants:
        entrant = store.save_entrant(digest=name, name=name, agent="llm", agent_version="1", model="m", tools="debug")
        cells = [(task, entrant, 1) for task in saved.task_ids.values()]
        for outcome, episode in zip(outcomes, create_episodes(store, run, cells).values(), strict=True):
            start(store, episode)
            verdict, steps = ("resolved", 5) if outcome == "+" else ("unresolved", 50)
            store.finish_episode(episode, verdict=verdict, stop_reason="submitted", steps=steps)
    store.end_run(run, "finished")
    return run


def test_an_entrant_is_compared_with_itself_under_two_values(store: Store, engine: Engine) -> None:
    played(store, "+---", steps=20, shows_failure_state=True)  # differs in a second condition
    played(store, "----", digest="other", shows_failure_state=True)  # another version of the benchmark
    on = played(store, "++++", shows_failure_state=True)
    off = played(store, "+---", ("one", "two"))
    assert queries.varying_conditions(engine)["shows_failure_state"] == [False, True]
    compared = queries.compare_across(engine, "shows_failure_state")
    (pair,), (efforts,) = compared["pairs"], compared["effort"]
    assert [scoped["runs"][0]["run"] for scoped in compared["scopes"]] == [off, on]
    assert (pair["difference"], pair["only_second"]) == (0.75, ["task-01", "task-02", "task-03"])
    assert pair["differs"] == {"shows_failure_state": [False, True]}
    assert pair["sentence"].startswith(
        "No clear difference: one (state at failures shown: yes) is 75.0 points above one ("
    )
    assert (efforts[0]["by"], efforts[0]["saved"], efforts[0]["tasks"]) == ("steps", 33.75, 4)
    named = queries.compare_across(engine, "shows_failure_state", values=["yes", "no"], entrants=["one"])
    assert named["pairs"][0]["difference"] == -0.75
    assert queries.compare_across(engine, "shows_failure_state", Scope(run=[on, off]))["pairs"][0]["difference"] == 0.75
    with pytest.raises(NotFound, match="'two' has played under both values"):
        queries.compare_across(engine, "shows_failure_state", entrants=["two"])


def test_what_cannot_be_compared_across_says_why(store: Store, engine: Engine) -> None:
    with pytest.raises(NotComparable, match="there is no condition 'color': choose from steps, "):
        queries.compare_across(engine, "color")
    with pytest.raises(NotComparable, match="no finished run matches"):
        queries.compare_across(engine, "steps")
    played(store, "++--", steps=20)
    with pytest.raises(NotComparable, match="all runs with otherwise equal conditions have steps 20"):
        queries.compare_across(engine, "steps")
    played(store, "++--")
    played(store, "++-+", steps=None)
    with pytest.raises(
        NotComparable, match="3 values of steps \\(20, 50, without limit\\): choose two, as in --across"
    ):
        queries.compare_across(engine, "steps")
    with pytest.raises(NotComparable, match="no run with steps 30"):
        queries.compare_across(engine, "steps", values=["20", "30"])
    with pytest.raises(NotComparable, match="two different values of steps"):
        queries.compare_across(engine, "steps", values=["20"])
    compared = queries.compare_across(engine, "steps", values=["20", "without limit"])
    assert compared["pairs"][0]["difference"] == 0.25
    assert compared["effort"][0][0]["budget"] == 50.0  # the most that an episode took: one side has no limit


def test_values_that_changed_during_a_run_are_left_out(store: Store, engine: Engine) -> None:
    for sandbox in ("docker", "bubblewrap + docker", "unknown"):
        played(store, "+-", sandbox=sandbox)
    last = played(store, "++", sandbox="bubblewrap")
    compared = queries.compare_across(engine, "sandbox")
    assert compared["values"] == ["bubblewrap", "docker"] and compared["scopes"][0]["runs"][0]["run"] == last
    assert [excluded["runs"] for excluded in compared["scopes"][0]["apart"]] == [[3], [2]]
