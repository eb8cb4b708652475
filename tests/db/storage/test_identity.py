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
    "shows_failure_state": False,
}  # fmt: skip


def names(engine: Engine) -> dict[int, str]:
    return {row["id"]: row["name"] for row in queries.entrants(engine)}


def test_two_versions_of_an_agent_have_two_names(store: Store) -> None:
    first = store.save_entrant(digest="a", name="repair (debug)", agent="repair", agent_version="1")
    assert names(store.engine) == {first: "repair (debug)"}
    second = store.save_entrant(digest="b", name="repair (debug)", agent="repair", agent_version="2")
    third = store.save_entrant(digest="c", name="repair (debug)", agent="repair", agent_version="2", config={"x": 1})
    expected = {
        third: "repair (debug)",
        second: "repair (debug), other settings",
        first: "repair (debug), version 1, other settings",
    }
    assert names(store.engine) == expected
    store.save_entrant(digest="a", name="repair (debug)", agent="repair", agent_version="1")  # an old run goes on
    assert names(store.engine) == expected


def test_entrant_names_are_unique(store: Store) -> None:
    for number in range(4):
        store.save_entrant(digest=f"{number}digest", name="e", agent="a", tool_versions={"pdb": str(number)})
    names_by_id = names(store.engine)
    assert len(set(names_by_id.values())) == 4 and names_by_id[4] == "e"
    store.save_entrant(digest="3digest", name="f", agent="a", tool_versions={"pdb": "3"})
    assert names(store.engine)[4] == "f" and names(store.engine)[3] == "e"


def test_equal_conditions_have_equal_digests() -> None:
    usual = conditions.complete(KNOWN)
    assert conditions.digest(usual) == conditions.digest(conditions.complete({**KNOWN, "wall_s": 1800}))
    assert conditions.digest(usual) == conditions.digest(json.loads(json.dumps(usual)))
    for name in conditions.FIELDS:
        incomplete = conditions.complete({**KNOWN, name: UNKNOWN})
        assert conditions.digest(incomplete) != conditions.digest(usual)
        assert conditions.differences(incomplete, usual) == {name: [UNKNOWN, usual[name]]}
    fewer = conditions.differences(conditions.complete({**KNOWN, "steps": 3, "cost_usd": 0.024}), usual)
    assert conditions.describe_differences(fewer) == "steps 3 instead of 50, cost $0.0240 instead of without limit"
    with pytest.raises(ValueError, match="weather"):
        conditions.complete({"weather": "fine"})


def test_a_run_resumed_under_other_conditions_has_both(store: Store) -> None:
    benchmark = store.save_benchmark(name="b", digest="d", license="", source="", tasks=[])
    run = store.create_run(name="r", benchmark_id=benchmark.id, spec={}, conditions=KNOWN)
    digest = queries.run(store.engine, run)["conditions_digest"]
    store.record_conditions(run, KNOWN)
    assert queries.run(store.engine, run)["conditions_digest"] == digest
    for _ in range(2):
        store.record_conditions(run, {**KNOWN, "sandbox": "bubblewrap"})
        row = queries.run(store.engine, run)
        assert row["conditions"]["sandbox"] == "bubblewrap + docker" and row["conditions"]["steps"] == 50
        assert row["conditions_digest"] not in (digest, "")


def test_the_series_is_the_leaderboard_else_the_schedule_else_the_name(store: Store) -> None:
    benchmark = store.save_benchmark(name="b", digest="d", license="", source="", tasks=[])
    for fields, series in (
        ({"leaderboard": "nightly", "schedule": "s"}, "nightly"),
        ({"schedule": "s", "spec": {"name": "n"}}, "s"),
        ({"spec": {"name": "n"}}, "n"),
        ({}, ""),
    ):
        run = store.create_run(name="r-03-00", benchmark_id=benchmark.id, **{"spec": {}, **fields})  # type: ignore[arg-type]
        assert queries.run(store.engine, run)["series"] == series
