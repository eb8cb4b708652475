"""What is one entrant, one benchmark and one set of conditions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.writes import conditions
from stackrank.db.writes.store import Store
from stackrank.terms import UNKNOWN

KNOWN: dict[str, Any] = {
    "steps": 50, "tokens": None, "cost_usd": None, "wall_s": 1800.0, "malformed": 5, "repeats": 8,
    "sandbox": "docker", "scorer": "s1", "ends_when_solved": True, "shows_failing_test": True,
}  # fmt: skip


def names(engine: Engine) -> dict[int, str]:
    return {row["id"]: row["name"] for row in queries.entrants(engine)}


def test_two_versions_of_an_agent_have_two_names(store: Store) -> None:
    first = store.save_entrant(digest="a", name="repair (debug)", agent="repair", agent_version="1")
    assert names(store.engine) == {first: "repair (debug)"}
    second = store.save_entrant(digest="b", name="repair (debug)", agent="repair", agent_version="2")
    third = store.save_entrant(digest="c", name="repair (debug)", agent="repair", agent_version="2", config={"x": 1})
    wanted = {
        third: "repair (debug)",
        second: "repair (debug), other settings",
        first: "repair (debug), version 1, other settings",
    }
    assert names(store.engine) == wanted
    store.save_entrant(digest="a", name="repair (debug)", agent="repair", agent_version="1")  # an old run goes on
    assert names(store.engine) == wanted


def test_names_stay_different_whatever_differs(store: Store) -> None:
    for number in range(4):
        store.save_entrant(digest=f"{number}digest", name="e", agent="a", tool_versions={"pdb": str(number)})
    found = names(store.engine)
    assert len(set(found.values())) == 4 and found[4] == "e"
    store.save_entrant(digest="3digest", name="f", agent="a", tool_versions={"pdb": "3"})
    assert names(store.engine)[4] == "f" and names(store.engine)[3] == "e"


def test_conditions_are_equal_where_their_digests_are() -> None:
    whole = conditions.complete(KNOWN)
    assert conditions.digest(whole) == conditions.digest(conditions.complete({**KNOWN, "wall_s": 1800}))
    assert conditions.digest(whole) == conditions.digest(json.loads(json.dumps(whole)))
    for name in conditions.FIELDS:
        other = conditions.complete({**KNOWN, name: UNKNOWN})
        assert conditions.digest(other) != conditions.digest(whole)
        assert conditions.differences(other, whole) == {name: [UNKNOWN, whole[name]]}
    fewer = conditions.differences(conditions.complete({**KNOWN, "steps": 3, "tokens": 9}), whole)
    assert conditions.say_differences(fewer) == "steps 3 instead of 50, tokens 9 instead of without limit"
    with pytest.raises(ValueError, match="weather"):
        conditions.complete({"weather": "fine"})


def test_a_run_that_goes_on_under_other_conditions_has_both(store: Store) -> None:
    benchmark = store.save_benchmark(name="b", digest="d", license="", source="", tasks=[])
    run = store.create_run(name="r", benchmark_id=benchmark.id, spec={}, conditions=KNOWN)
    before = queries.run(store.engine, run)["conditions_digest"]
    store.go_on_under(run, KNOWN)
    assert queries.run(store.engine, run)["conditions_digest"] == before
    for _ in range(2):
        store.go_on_under(run, {**KNOWN, "sandbox": "bubblewrap"})
        row = queries.run(store.engine, run)
        assert row["conditions"]["sandbox"] == "bubblewrap + docker" and row["conditions"]["steps"] == 50
        assert row["conditions_digest"] not in (before, "")


def test_what_links_runs_is_the_leaderboard_else_the_schedule_else_the_name(store: Store) -> None:
    benchmark = store.save_benchmark(name="b", digest="d", license="", source="", tasks=[])
    for about, series in (
        ({"leaderboard": "nightly", "schedule": "s"}, "nightly"),
        ({"schedule": "s", "spec": {"name": "n"}}, "s"),
        ({"spec": {"name": "n"}}, "n"),
        ({}, ""),
    ):
        run = store.create_run(name="r-03-00", benchmark_id=benchmark.id, **{"spec": {}, **about})  # type: ignore[arg-type]
        assert queries.run(store.engine, run)["series"] == series
