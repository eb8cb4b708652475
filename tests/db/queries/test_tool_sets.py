"""Many tool sets of several models beside each other: the same numbers as pair by pair, corrected together."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import pytest
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.queries import Scope
from stackrank.db.writes.store import Store
from stackrank.env.tools import tool_set
from stackrank.wording import mean
from tests.support.episodes import create_episodes, start

pytestmark = pytest.mark.slow  # by its time

SETS = {"rewrite": 0.4, "debug": 0.45, "trace": 0.8, "calls": 0.5, "snapshot": 0.6, "investigate": 0.7}
TASKS = 30


def played(
    store: Store,
    models: tuple[str, ...] = ("large", "small"),
    extra_tools: tuple[str, ...] = (),
    versions: Mapping[str, dict[str, str]] = MappingProxyType({}),
    sets: Iterable[str] = SETS,
    steps: int | None = None,
    milestones: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
) -> int:
    """A run in which every model plays every tool set, the better the higher its number."""
    dice = random.Random(3)
    tasks = [
        {"name": f"task-{n:02}", "digest": f"d{n}", "tags": ["go" if n % 3 else "rust", "graph"]} for n in range(TASKS)
    ]
    benchmark = store.save_benchmark(name="bugs", digest="b", license="", source="", tasks=tasks)
    run = store.create_run(name="debuggers", benchmark_id=benchmark.id, spec={})
    store.start_run(run)
    for model in models:
        for name in (*sets, *extra_tools):
            tools, label = list(tool_set(name).tools), f"llm/{model} ({name})"
            entrant = store.save_entrant(
                digest=label, name=label, agent="llm", agent_version="1", model=model, tools=name, tool_list=tools,
                tool_versions=versions.get(name, {}),
            )  # fmt: skip
            cells = [(task, entrant, 1) for task in benchmark.task_ids.values()]
            for episode in create_episodes(store, run, cells).values():
                start(store, episode)
                verdict = "resolved" if dice.random() < SETS.get(name, 0.4) else "unresolved"
                totals = {"steps": steps or dice.randint(5, 20), "tokens_in": 900, "tokens_out": 100, "cost_usd": 0.25}
                store.finish_episode(
                    episode, verdict=verdict, stop_reason="submitted", milestones=milestones.get(name), **totals
                )
    store.end_run(run, "finished")
    return run


def test_each_debugger_tool_set_is_compared_with_the_one_without(store: Store, engine: Engine) -> None:
    scope = Scope(run=played(store))
    pairs = queries.tool_sets(engine, scope)
    assert {(pair["second"]["model"], pair["first"]["tools"], pair["second"]["tools"]) for pair in pairs} == {
        (model, "rewrite", name) for model in ("large", "small") for name in SETS if name != "rewrite"
    }
    for pair in pairs:
        direct: dict[str, Any] = dict(
            queries.compare(engine, pair["first"]["entrant"], pair["second"]["entrant"], scope)
        )
        assert pair == direct


@pytest.mark.parametrize("base", ["trace", "rewrite", "llm/small (rewrite)"])
def test_any_tool_set_or_entrant_can_be_the_base(store: Store, engine: Engine, base: str) -> None:
    scope = Scope(run=played(store, extra_tools=("bash",)))
    pairs = queries.tool_sets(engine, scope, base=base, models=["small"])
    base_set = base.removeprefix("llm/small (").removesuffix(")")
    assert {pair["second"]["tools"] for pair in pairs} == {*SETS, "bash"} - {base_set}
    assert {(pair["first"]["tools"], pair["second"]["model"]) for pair in pairs} == {(base_set, "small")}
    assert queries.tool_sets(engine, scope, base="nowhere") == queries.tool_sets(engine, scope, models=["x"]) == []


def test_each_set_is_compared_with_the_sets_that_lack_a_few_of_its_tools(store: Store, engine: Engine) -> None:
    own = ("eval,view,rewrite,submit", "eval,view,rewrite,terminal,submit", "eval,view,rewrite,terminal,pdb,submit")
    scope = Scope(run=played(store, models=("one",), extra_tools=("bash", "bash-debug", "edit", "edit-debug", *own)))
    pairs = {(pair["first"]["tools"], pair["second"]["tools"]) for pair in queries.tool_sets(engine, scope)}
    assert pairs == {
        *(("rewrite", name) for name in (*SETS, "bash") if name != "rewrite"),
        ("bash", "bash-debug"),
        ("debug", "bash-debug"),
        ("edit", "edit-debug"),
        (own[0], "rewrite"),
        (own[0], own[1]),
        (own[1], own[2]),
    }
    with_debugger = {
        (pair["first"]["tools"], pair["second"]["tools"]) for pair in queries.debugger_pairs(engine, scope)
    }
    assert pairs - with_debugger == {
        ("rewrite", "bash"), ("debug", "bash-debug"), (own[0], "rewrite"), (own[0], own[1]),
    }  # fmt: skip


def test_sets_of_which_none_includes_another_are_compared_with_the_smallest(store: Store, engine: Engine) -> None:
    scope = Scope(run=played(store, models=("one",), sets=("edit", "trace", "calls")))
    pairs = {(pair["first"]["tools"], pair["second"]["tools"]) for pair in queries.tool_sets(engine, scope)}
    assert pairs == {("calls", "edit"), ("calls", "trace")}


def test_what_the_added_tools_are_worth(store: Store, engine: Engine) -> None:
    milestones = {"debug": {"localized": 3, "edited": 4}, "rewrite": {"localized": 4, "edited": 9}}
    scope = Scope(run=played(store, models=("one",), sets=("rewrite", "debug"), steps=10, milestones=milestones))
    pairs = queries.tool_sets(engine, scope)
    (worth,) = queries.tool_worth(engine, pairs, scope)
    assert (worth["added"], worth["removed"]) == (["pdb"], [])
    assert worth["phases"] == {"searching": 1.0, "diagnosing": 4.0, "repairing": -5.0}
    assert worth["effort"].keys() == {"steps", "tokens", "cost_usd"}
    sentence, (pair,) = worth["sentence"], pairs
    assert sentence.startswith("pdb, added to llm/one (rewrite): no clear difference in the rate, ")
    assert "30 tasks" in sentence and "no clear difference in steps: " in sentence and "$" in sentence
    assert f"resolved or not, took on average {mean(pair['second']['steps_mean'])} steps, " in sentence, sentence
    assert f"; one of llm/one (rewrite) {mean(pair['first']['steps_mean'])} steps, " in sentence
    assert "while diagnosing" not in sentence, "no steps are saved for certain"
    assert queries.tool_worth(engine, [], scope) == []


def test_a_different_version_of_a_shared_tool_rules_out_a_base(store: Store, engine: Engine) -> None:
    versions = {"rewrite": {"rewrite": "1", "view": "1"}, "debug": {"rewrite": "2", "view": "1", "pdb": "1"}}
    scope = Scope(run=played(store, models=("one",), versions=versions))
    pairs = {(pair["first"]["tools"], pair["second"]["tools"]) for pair in queries.tool_sets(engine, scope)}
    assert ("rewrite", "trace") in pairs and ("rewrite", "debug") not in pairs, "rewrite is not the same"


def test_side_by_side_rows(store: Store, engine: Engine) -> None:
    scope = Scope(run=played(store))
    pairs = queries.tool_sets(engine, scope)
    board = {row["entrant"]: row for row in queries.leaderboard(engine, scope)}
    rows = queries.side_by_side(engine, pairs, scope)
    assert [(row["model"], bool(row["base"])) for row in rows] == [
        (model, based) for model in ("large", "small") for based in (False, *[True] * 5)
    ]
    for row in rows:
        standing = board[row["entrant"]]
        for name in ("rate", "ci_low", "ci_high", "steps_mean", "cost_per_episode", "cost_per_resolved", "tasks"):
            assert row[name] == standing[name], name  # type: ignore[literal-required]
        assert (row["episodes"], row["tokens_mean"], row["errors"]) == (TASKS, 1000, 0)
    compared = {pair["second"]["entrant"]: pair for pair in pairs}
    for row in (row for row in rows if row["base"]):
        pair = compared[row["entrant"]]
        assert (row["difference"], row["p_holm"]) == (pair["difference"], pair["p_holm"])
        (effort,) = queries.effort(engine, [(pair["first"]["entrant_id"], pair["second"]["entrant_id"])], scope)
        saved = (row["steps_saved"], row["steps_saved_low"], row["steps_saved_high"])
        assert saved == (effort["saved"], effort["low"], effort["high"])
        assert (row["gained"], row["lost"]) == (len(pair["only_second"]), len(pair["only_first"]))
    assert queries.side_by_side(engine, []) == []


def test_tool_sets_are_compared_on_the_tasks_of_a_language(store: Store, engine: Engine) -> None:
    run = played(store, models=("large",), sets=("rewrite", "debug"))
    assert queries.task_tags(engine, Scope(run=run)) == ["go", "graph", "rust"]
    sizes = {}
    for tag in ("", "go", "rust", "graph", "c"):
        scope = Scope(run=run, task_tag=tag)
        sizes[tag] = [row["tasks"] for row in queries.side_by_side(engine, queries.tool_sets(engine, scope), scope)]
        sentence = queries.describe_scope(engine, scope)["sentence"]
        assert (f"only tasks tagged {tag}" in sentence) == bool(tag)
    assert {tag: set(counts) for tag, counts in sizes.items()} == {
        "": {TASKS}, "go": {20}, "rust": {10}, "graph": {TASKS}, "c": set()
    }  # fmt: skip
