"""What is one entrant, one benchmark and one set of conditions: in new databases, and in those of older versions."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes import conditions
from stackrank.db.writes.store import Store
from stackrank.terms import UNKNOWN
from tests.db.storage import old

KNOWN: dict[str, Any] = {
    "steps": 50, "tokens": None, "cost_usd": None, "wall_s": 1800.0, "malformed": 5, "repeats": 8,
    "sandbox": "docker", "scorer": "s1", "ends_when_solved": True,
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
        assert conditions.differences(other, whole) == {name: [UNKNOWN, whole.get(name, True)]}
    fewer = conditions.differences(conditions.complete({**KNOWN, "steps": 3, "tokens": 9}), whole)
    assert conditions.say_differences(fewer) == "steps 3 instead of 50, tokens 9 instead of without limit"
    with pytest.raises(ValueError, match="weather"):
        conditions.complete({"weather": "fine"})


def test_a_field_that_came_later_leaves_older_conditions_equal() -> None:
    before = conditions.complete(KNOWN)
    assert conditions.complete({**KNOWN, "shows_failing_test": True}) == before and "shows_failing_test" not in before
    alone = conditions.complete({**KNOWN, "shows_failing_test": False})
    assert conditions.digest(alone) != conditions.digest(before)
    assert conditions.say_differences(conditions.differences(alone, before)) == "failing test shown: no instead of yes"
    assert conditions.say(alone) == f"{conditions.say(before)}, failing test shown: no"
    assert conditions.joined(before, before) == before and conditions.joined(alone, alone) == alone
    both = conditions.joined(before, alone)
    assert conditions.digest(both) not in (conditions.digest(before), conditions.digest(alone))


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


def at_0005(file: Path) -> sqlite3.Connection:
    """The old database, brought to the schema before conditions were stored."""
    from alembic import command

    from stackrank.db.connection.engine import alembic_config

    engine = connect(old.restore(file), migrate=False)
    config = alembic_config()
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, "0005")
    engine.dispose()
    return sqlite3.connect(file)


def test_an_old_database_says_what_is_known(tmp_path: Path) -> None:
    with closing(at_0005(file := tmp_path / "old.db")) as raw:
        spec = json.loads(raw.execute("SELECT spec FROM run WHERE id = 1").fetchone()[0])
        sets = {
            2: ("repo", "shop", {**spec, "path": "/data/shop"}),
            3: ("swebench", "SWE-bench_Verified", {**spec, "path": "acme/SWE-bench_Verified", "steps": 3}),
            4: ("swebench-debug", "rows.jsonl", {"path": "/data/rows.jsonl"}),
            5: ("bugs", "written for stackrank", {**spec, "path": "/data/mine", "name": ""}),
            6: ("repo", "", spec),
        }
        for number, (family, source, given) in sets.items():
            raw.execute(
                "INSERT INTO benchmark (id, name, digest, license, source, tasks_total) VALUES (?, ?, ?, '', ?, 0)",
                (number, family, f"d{number}", source),
            )
            raw.execute(
                "INSERT INTO run (name, benchmark_id, status, reason, leaderboard, owner, project, tags, spec,"
                " versions, seed, episodes_total, prefect_flow_run_id, host, schedule, regressions)"
                " VALUES ('x', ?, 'finished', '', '', '', '', '[]', ?, '{}', 0, 0, '', '', '', '[]')",
                (number, json.dumps(given)),
            )
        scored = raw.execute("SELECT id FROM episode WHERE run_id = 1 AND verdict <> ''").fetchall()
        for (episode,) in scored[:-1]:
            raw.execute(
                "INSERT INTO verdicts (episode_id, of_record, task_digest, workspace, change, scorer, environment,"
                " resolved, tampered, sealed, unsealed, tests, notes)"
                " VALUES (?, 1, '', '', '', 's1', '', 1, 0, 0, '', '{}', '[]')",
                (episode,),
            )
        raw.commit()
    engine = connect(f"sqlite:///{file}")
    runs = {row["benchmark"]: row for row in queries.runs(engine)}
    assert {row["name"] for row in queries.benchmarks(engine)} == set(runs) == {
        "bugs", "repo/shop", "swebench/acme/SWE-bench_Verified", "swebench-debug/rows", "bugs/mine", "repo/unknown",
    }  # fmt: skip
    first = queries.run(engine, old.FINISHED)
    limits = {"steps": 50, "tokens": None, "cost_usd": None, "wall_s": 1800}
    always = {"malformed": 5, "repeats": 8, "ends_when_solved": True}
    # One verdict has no record, so nobody knows what scored it.
    assert first["conditions"] == {**limits, **always, "sandbox": "bubblewrap", "scorer": UNKNOWN}
    assert first["series"] == "first" and runs["bugs/mine"]["series"] == ""
    assert runs["swebench/acme/SWE-bench_Verified"]["conditions"]["steps"] == 3
    nothing = runs["swebench-debug/rows"]["conditions"]
    assert set(nothing.values()) == {UNKNOWN} and conditions.say(nothing) == UNKNOWN
    for row in runs.values():
        assert conditions.complete(row["conditions"]) == row["conditions"]
        assert conditions.digest(row["conditions"]) == row["conditions_digest"]
    kinds = {row["name"]: (row["reference"], row["called"]) for row in queries.entrants(engine)}
    assert kinds == {"oracle (debug)": (True, "oracle (debug)"), "repair (debug)": (False, "repair (debug)")}
    assert queries.entrants(engine)[0]["tool_versions"]["pdb"] == "1"


def test_old_entrants_of_one_name_are_told_apart(tmp_path: Path) -> None:
    with closing(at_0005(file := tmp_path / "old.db")) as raw:
        for number in (1, 2):
            raw.execute(
                "INSERT INTO entrant (digest, name, agent, agent_version, model, tools, tool_list, config)"
                " SELECT digest || ?, name, agent, ?, model, tools, tool_list, config FROM entrant WHERE id = 2",
                (number, number + 1),
            )
        raw.commit()
    found = names(connect(f"sqlite:///{file}"))
    assert found[4] == "repair (debug)"
    assert found[3] == "repair (debug), version 2" and found[2] == "repair (debug), version 1"
