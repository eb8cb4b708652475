"""How steps are stored: whole, once, in partitions, and by what rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, func, inspect, select, text
from sqlalchemy.exc import IntegrityError
from sqlmodel import SQLModel

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.transactions import BLOB, EPISODE, STEP
from stackrank.db.maintenance.copy import copy
from stackrank.db.models.runs import Step
from stackrank.db.writes.store import Store
from tests.dashboard.seed import seed
from tests.postgres import Cluster

OBSERVATION = "FAILED tests/test_core.py::test_total - assert 3 == 6\n" * 60
STATE = {"tests": {"passed": 1, "failed": 2, "ids": {f"t.py::test_{n}": "failed" for n in range(60)}}, "solved": False}
DIFF = "--- a/core.py\n+++ b/core.py\n" + "-x\n+y\n" * 300


def step(episode: int, index: int, **more: Any) -> Step:
    request = {"model": "m", "messages": [{"role": "tool", "content": OBSERVATION}], "n": index}
    given: dict[str, Any] = {
        "tool": "eval", "arguments": {"code": "print(1)\n" * 200}, "thought": f"Thought {index}. " * 90,
        "observation": OBSERVATION, "state": {**STATE, "line": index, "diff": DIFF, "file": "core.py"},
        "exchanges": [{"model": "m", "request": request, "answer": {"id": index}}],
    }  # fmt: skip
    return Step(episode_id=episode, index=index, **{**given, **more})


def all_steps(engine: Engine) -> list[Any]:
    with engine.connect() as connection:
        episodes = connection.scalars(select(EPISODE.c.id).order_by(EPISODE.c.id)).all()
    return [(each, queries.steps(engine, each, exchanges=True)) for each in episodes]


def test_long_parts_are_whole_wherever_they_are_read(engine: Engine, store: Store, matrix: SimpleNamespace) -> None:
    first, second, *_ = matrix.episodes.values()
    for episode in (first, second):
        for index in range(5):
            store.add_step(step(episode, index))
    given = step(first, 4)
    stored = queries.steps(engine, first, exchanges=True)[4]
    for name in ("arguments", "thought", "observation", "state", "exchanges"):
        assert stored[name] == getattr(given, name)  # type: ignore[literal-required]
    one = queries.step(engine, first, 4, chars=100)
    assert one is not None and one["observation"] == OBSERVATION[:100] and one["asked"]
    assert (one["observation_chars"], one["thought_chars"]) == (len(OBSERVATION), len(given.thought))
    assert one["arguments"] is None and one["arguments_text"] == json.dumps(given.arguments)[:100]
    assert one["state"] == given.state and queries.exchanges(engine, first, 4) == given.exchanges
    assert queries.step_text(engine, first, 4, "observation", chars=10**6) == OBSERVATION
    assert queries.step_text(engine, first, 4, "exchanges", chars=30) == json.dumps(given.exchanges)[:30]
    outline = queries.step_outline(engine, first)[4]
    assert (outline["passed"], outline["failed"], outline["line"], outline["file"]) == ("1", "2", "4", "core.py")
    assert outline["arguments"] == json.dumps(given.arguments)[:160] and outline["thought"] == given.thought[:160]
    assert [row["diff"] for row in queries.edits(engine, first, 3)] == [DIFF] * 4
    stood = queries.before(engine, first, 3, "tests")
    assert stood is not None and (stood["index"], stood["state"]["tests"]) == (3, STATE["tests"])
    assert queries.before(engine, first, 3, "event") is None
    assert queries.actions(engine, first)[4]["arguments"] == json.dumps(given.arguments)[:2000]
    with engine.connect() as connection:
        contents = connection.execute(select(func.count(), func.sum(func.length(BLOB.c.content)))).one()
    assert contents[0] == 3 + 1 + 5, "observation, diff, code, the tests' ids; five thoughts"
    assert contents[1] < 3_000


def test_the_same_step_again_is_accepted_and_another_is_not(store: Store, matrix: SimpleNamespace) -> None:
    episode = next(iter(matrix.episodes.values()))
    store.add_step(step(episode, 0))
    store.add_step(step(episode, 0))
    with pytest.raises(ValueError, match="already has another step 0"):
        store.add_step(step(episode, 0, observation=OBSERVATION + "."))
    with pytest.raises(ValueError, match="already has another step 0"):
        store.add_step(step(episode, 0, arguments={"code": "print(2)\n" * 200}))


def test_a_question_about_steps_asks_no_more_for_more_steps(
    engine: Engine, store: Store, matrix: SimpleNamespace, statements: list[str]
) -> None:
    episode = next(iter(matrix.episodes.values()))
    asked = []
    for index in range(20):
        store.add_step(step(episode, index))
        if index in (1, 19):
            statements.clear()
            queries.steps(engine, episode, exchanges=True)
            queries.step_outline(engine, episode)
            queries.edits(engine, episode, index)
            asked.append(len([each for each in statements if each.startswith("SELECT")]))
    assert asked[0] == asked[1] <= 10


@pytest.fixture
def statements(engine: Engine) -> Iterator[list[str]]:
    from sqlalchemy import event

    seen: list[str] = []

    def record(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        seen.append(statement)

    event.listen(engine, "before_cursor_execute", record)
    yield seen
    event.remove(engine, "before_cursor_execute", record)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE run SET status = 'whatever'", "UPDATE run SET episodes_total = -1", "UPDATE episode SET steps = -5",
        "UPDATE episode SET status = 'over'", "UPDATE episode SET stop_reason = 'bored'",
        "UPDATE episode SET failure_point = 'bad luck'", "UPDATE episode SET error_class = 'nobody'",
        "UPDATE episode SET verdict = 'maybe', status = 'done'", "UPDATE episode SET at_solved = -1",
        "UPDATE step SET distance = 'far'", "UPDATE step SET tokens_in = -1", "UPDATE tooluse SET calls = -1",
        "UPDATE benchmark SET tasks_valid = -1", "UPDATE task SET validated_rounds = -1",
        "UPDATE note SET step_index = -1",
    ],
)  # fmt: skip
def test_rules_hold_whoever_writes(filled: Engine, change: str) -> None:
    with pytest.raises(IntegrityError), filled.begin() as connection:
        connection.execute(text(change))


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    url = f"sqlite:///{tmp_path_factory.mktemp('filled') / 'x.db'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").create("migrated")
    engine = connect(url)
    seed(engine, runs=1, live=False, tasks=4)
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO note (run_id, author, body) VALUES (1, 'a', 'b')"))
    yield engine
    engine.dispose()


def test_models_and_database_have_the_same_rules(filled: Engine) -> None:
    """Where this fails after a new term: a migration with `set_check` for its table, as `test_upgrade` shows."""
    for table in SQLModel.metadata.sorted_tables:
        declared = {str(each.name): str(each.sqltext) for each in table.constraints if hasattr(each, "sqltext")}
        there = {str(each["name"]): each["sqltext"] for each in inspect(filled).get_check_constraints(table.name)}
        assert there.keys() == declared.keys()
        if filled.dialect.name == "sqlite":
            assert there == declared
        else:
            for name, condition in declared.items():
                terms = {part for part in condition.split("'")[1::2] if part}
                assert terms == {part for part in there[name].split("'")[1::2] if part}


def test_steps_of_later_episodes_get_partitions(postgres: Cluster, tmp_path: Path) -> None:
    engine = connect(postgres.create("migrated"))
    store = Store(engine)
    tasks = [{"name": f"t{n}", "digest": ""} for n in range(30)]
    benchmark = store.save_benchmark(name="b", digest="b", license="", source="", tasks=tasks)
    entrant = store.save_entrant(digest="e", name="e", agent="a")
    with engine.begin() as connection:
        connection.execute(text("SELECT setval('episode_id_seq', 5000299990)"))
    cells = [(task, entrant, 1) for task in benchmark.task_ids.values()]
    run = store.create_run(name="late", benchmark_id=benchmark.id, spec={}, cells=cells)
    episodes = [row["id"] for row in queries.episodes(engine, run, limit=50)]
    assert episodes[0] < 5_000_300_000 < episodes[-1], "beyond 32 bits, and in two ranges"
    for episode in episodes:
        store.add_step(step(episode, 0))
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT tableoid::regclass::text, count(*) FROM step GROUP BY 1")).tuples()
        assert dict(rows.all()) == {"step_50002": 9, "step_50003": 21}
        plan = connection.execute(text("EXPLAIN SELECT * FROM step WHERE episode_id = 5000299999")).scalars().all()
        assert "step_50002" in " ".join(plan) and "step_50003" not in " ".join(plan)
    assert queries.episode(engine, episodes[-1])["id"] == episodes[-1]
    # And into a database of the other kind and back, where those partitions are missing.
    here, there = connect(f"sqlite:///{tmp_path / 'x.db'}"), connect(postgres.create("migrated"))
    copy(engine, here, lambda *_: None)
    copy(here, there, lambda *_: None)
    assert all_steps(there) == all_steps(here) == all_steps(engine)
    for each in (engine, here, there):
        each.dispose()


def test_episodes_by_tool_whatever_came_of_them(engine: Engine, store: Store, matrix: SimpleNamespace) -> None:
    one, two, three, *_ = matrix.episodes.values()
    for episode, tool in ((one, "pdb"), (one, "eval"), (two, "view"), (three, "pdb")):
        index = queries.last_step(engine, episode)
        store.add_step(Step(episode_id=episode, index=0 if index is None else index + 1, tool=tool))
    store.fail_episode(three, stop_reason="error", error="the sandbox: gone")
    found = {tool: [row["id"] for row in queries.episodes(engine, tool=tool)] for tool in ("pdb", "view", "none")}
    assert found == {"pdb": [one, three], "view": [two], "none": []}
    assert [row["id"] for row in queries.episodes(engine, tool=["pdb", "view"])] == sorted([one, two, three])
    with engine.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(STEP)) == 4
