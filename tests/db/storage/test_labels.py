"""What people say of tasks and episodes: kept, taken back, and what boards make of it."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.errors import NotFound
from stackrank.db.connection.transactions import LABEL
from stackrank.db.maintenance.prune import Pruning
from stackrank.db.queries import Scope
from stackrank.db.writes.labels import MOST_ADDRESS, Labels
from stackrank.db.writes.store import Store
from stackrank.errors import UsageError
from stackrank.terms import Label

# Task -> its verdicts without and with a debugger.
PLAYED = {"both": ("resolved", "resolved"), "pdb": ("unresolved", "resolved"), "none": ("unresolved", "unresolved")}


@pytest.fixture
def store(empty_url: str) -> Store:
    """Two entrants that differ in their debugger, on three tasks."""
    store = Store(connect(empty_url))
    tasks = [{"name": name, "digest": name * 2} for name in PLAYED]
    benchmark = store.save_benchmark(name="bugs", digest="b", license="", source="", tasks=tasks)
    sides = [
        store.save_entrant(digest=name, name=name, agent="llm", model="m", tools=name, tool_list=tools)
        for name, tools in (("rewrite", ["view"]), ("debug", ["view", "pdb"]))
    ]
    cells = [(task, side, 1) for task in benchmark.task_ids.values() for side in sides]
    run = store.create_run(name="r", benchmark_id=benchmark.id, spec={}, cells=cells)
    store.start_run(run)
    names = {task_id: name for name, task_id in benchmark.task_ids.items()}
    while claim := store.claim_next(run, "w"):
        verdict = PLAYED[names[claim["task_id"]]][sides.index(claim["entrant_id"])]
        store.finish_episode(claim["id"], verdict=verdict, stop_reason="submitted", wall_s=1.0)
    store.end_run(run, "finished")
    return store


def task_of(store: Store, name: str) -> int:
    return next(row["id"] for row in queries.tasks(store.engine, "bugs") if row["name"] == name)


def test_disputed_tasks_leave_boards_only_on_request(store: Store) -> None:
    labels, engine = Labels(store.engine), store.engine
    assert [row["rate"] for row in queries.leaderboard(engine)] == pytest.approx([2 / 3, 1 / 3])
    labels.put(Label.DISPUTED, person="ada", task_id=task_of(store, "none"), reason=" Its test is wrong. ")
    scope = queries.describe_scope(engine)
    assert scope["disputed_tasks"] == ["none"] and "disputed tasks, still counted: none." in scope["sentence"]
    assert [row["rate"] for row in queries.leaderboard(engine)] == pytest.approx([2 / 3, 1 / 3])
    undisputed = Scope(without_disputed=True)
    assert [row["rate"] for row in queries.leaderboard(engine, undisputed)] == [1.0, 0.5]
    scope = queries.describe_scope(engine, undisputed)
    assert "disputed tasks, excluded: none." in scope["sentence"] and scope["tasks"] == scope["common_tasks"] == 2
    assert sum(row["unresolved"] for row in queries.failure_points(engine, undisputed)) == 1
    assert queries.compare(engine, "rewrite", "debug", undisputed)["tasks"] == 2
    labels.put(Label.DISPUTED, person="ada", task_id=task_of(store, "none"), is_set=False)
    assert queries.describe_scope(engine, undisputed)["disputed_tasks"] == [] and queries.labels(engine) == []
    with engine.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(LABEL)) == 2, "nothing is overwritten"


def test_labels_of_two_people_make_a_task_suspect(store: Store) -> None:
    labels, task = Labels(store.engine), task_of(store, "both")

    def row() -> dict[str, object]:
        return dict(next(row for row in queries.task_rates(store.engine) if row["task"] == "both"))

    labels.put(Label.FLAKY, person="ada", task_id=task)
    labels.put(Label.DISPUTED, person="ada", task_id=task)
    labels.put(Label.INSTRUCTIVE, person="eve", task_id=task)
    assert row()["disputed_by"] == ["ada"] and row()["suspect"] == ""
    labels.put(Label.BENCHMARK_BUG, person="bob", task_id=task, reason="See its fix.")
    assert row()["suspect"] == "2 people dispute it: ada, bob."
    board = queries.task_board(store.engine, task)
    assert [(label["person"], label["label"], label["reason"]) for label in board["labels"]][-1] == (
        "bob", "benchmark_bug", "See its fix."
    )  # fmt: skip
    assert board["suspect"] == row()["suspect"] and all(label["created_at"] for label in board["labels"])


def test_an_unchanged_task_keeps_its_labels_in_a_new_version(store: Store) -> None:
    old = task_of(store, "none")
    Labels(store.engine).put(Label.DISPUTED, person="ada", task_id=old)
    tasks = [{"name": "none", "digest": "nonenone"}, {"name": "pdb", "digest": "changed"}]
    new = store.save_benchmark(name="bugs", digest="b2", license="", source="", tasks=tasks)
    unchanged = new.task_ids["none"]
    assert unchanged != old and [row["person"] for row in queries.task_board(store.engine, unchanged)["labels"]] == [
        "ada"
    ]
    Labels(store.engine).put(Label.DISPUTED, person="ada", task_id=unchanged, is_set=False)
    assert queries.disputed(store.engine) == {}


def test_labels_of_episodes_are_found_and_deleted_with_their_run(store: Store) -> None:
    labels, engine = Labels(store.engine), store.engine
    episode = queries.episodes(engine, task="pdb", entrant="debug")[0]
    labels.put(Label.INSTRUCTIVE, person="ada", episode_id=episode["id"])
    labels.put(Label.FLAKY, person="ada", task_id=task_of(store, "both"))

    def found(query: str) -> set[str]:
        return {f"{row['task']} {row['entrant']}" for row in queries.search(engine, query)["episodes"]}

    assert found("label:instructive") == {"pdb debug"} and found("label:exploit") == set()
    assert found("label:flaky,instructive") == {"both debug", "both rewrite", "pdb debug"}
    assert len(found("-label:instructive")) == 5 and queries.disputed(engine).keys() == {("both", "bothboth")}
    Pruning(engine).delete_run(episode["run_id"])
    assert [row["label"] for row in queries.labels(engine)] == ["flaky"]


def test_invalid_labels_are_refused(store: Store) -> None:
    labels, task = Labels(store.engine), task_of(store, "both")
    for wrong in ({}, {"task_id": task, "episode_id": 1}, {"task_id": task, "reason": "x" * 10_001}):
        with pytest.raises(UsageError):
            labels.put(Label.FLAKY, person="ada", **wrong)  # type: ignore[arg-type]
    for unknown in ({"task_id": 4711}, {"episode_id": 4711}):
        with pytest.raises(NotFound):
            labels.put(Label.FLAKY, person="ada", **unknown)  # type: ignore[arg-type]
    labels.put(Label.FLAKY, person="bob", task_id=task)
    with pytest.raises(UsageError, match="ada has not set the label flaky"):
        labels.put(Label.FLAKY, person="ada", task_id=task, is_set=False)
    for name, address in (("", "a=1"), ("x" * 81, "a=1"), ("fine", "a" * (MOST_ADDRESS + 1))):
        with pytest.raises(UsageError):
            labels.save_view("episodes", name, address, person="ada")


def test_views_are_saved_replaced_and_removed(store: Store) -> None:
    labels = Labels(store.engine)
    labels.save_view("episodes", " my  view ", "ep_query=steps%3E20", person="ada")
    labels.save_view("tasks", "another", "tk_show=flaky", person="ada")
    labels.save_view("episodes", "my view", "ep_query=steps%3E30", person="bob")
    views = queries.views(store.engine, "episodes")
    assert [(view["name"], view["address"], view["person"]) for view in views] == [
        ("my view", "ep_query=steps%3E30", "bob")
    ]
    labels.save_view("episodes", "my view", "", person="ada")
    assert queries.views(store.engine, "episodes") == [] and len(queries.views(store.engine, "tasks")) == 1


def test_the_grid_shows_where_entrants_disagree_and_the_debugger_decided(store: Store) -> None:
    rows = queries.grid(store.engine)
    assert [(row["task"], row["spread"], row["decisive"]) for row in rows] == [
        ("pdb", 1.0, True), ("both", 0.0, False), ("none", 0.0, False)
    ]  # fmt: skip
    debug = store.save_entrant(digest="debug", name="debug", agent="llm")
    assert queries.decisive_tasks(store.engine) == {"pdb": [debug]}
    cells = {cell["entrant"]: cell for cell in rows[0]["cells"]}
    assert (cells["debug"]["resolved"], cells["rewrite"]["resolved"]) == (1, 0)
    for name, cell in cells.items():
        episode = queries.episode(store.engine, cell["episode"])
        assert (episode["task"], episode["entrant"]) == ("pdb", name)
