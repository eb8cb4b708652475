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


def step(episode: int, index: int, **columns: Any) -> Step:
    request = {"model": "m", "messages": [{"role": "tool", "content": OBSERVATION}], "n": index}
    defaults: dict[str, Any] = {
        "tool": "eval", "arguments": {"code": "print(1)\n" * 200}, "thought": f"Thought {index}. " * 90,
        "observation": OBSERVATION, "state": {**STATE, "line": index, "diff": DIFF, "file": "core.py"},
        "exchanges": [{"model": "m", "request": request, "answer": {"id": index}}],
    }  # fmt: skip
    return Step(episode_id=episode, index=index, **{**defaults, **columns})


def all_steps(engine: Engine) -> list[Any]:
    with engine.connect() as connection:
        episodes = connection.scalars(select(EPISODE.c.id).order_by(EPISODE.c.id)).all()
    return [(episode, queries.steps(engine, episode, exchanges=True)) for episode in episodes]


def test_every_query_returns_long_texts_whole(engine: Engine, store: Store, matrix: SimpleNamespace) -> None:
    first, second, *_ = matrix.episodes.values()
    for episode in (first, second):
        for index in range(5):
            store.add_step(step(episode, index))
    long_step = step(first, 4)
    stored = queries.steps(engine, first, exchanges=True)[4]
    for name in ("arguments", "thought", "observation", "state", "exchanges"):
        assert stored[name] == getattr(long_step, name)  # type: ignore[literal-required]
    shortened = queries.step(engine, first, 4, chars=100)
    assert shortened is not None and shortened["observation"] == OBSERVATION[:100] and shortened["asked"]
    assert (shortened["observation_chars"], shortened["thought_chars"]) == (len(OBSERVATION), len(long_step.thought))
    assert shortened["arguments"] is None and shortened["arguments_text"] == json.dumps(long_step.arguments)[:100]
    assert shortened["state"] == long_step.state and queries.exchanges(engine, first, 4) == long_step.exchanges
    assert queries.step_text(engine, first, 4, "observation", chars=10**6) == OBSERVATION
    assert queries.step_text(engine, first, 4, "exchanges", chars=30) == json.dumps(long_step.exchanges)[:30]
    outline = queries.step_outline(engine, first)[4]
    assert (outline["passed"], outline["failed"], outline["line"], outline["file"]) == ("1", "2", "4", "core.py")
    assert (
        outline["arguments"] == json.dumps(long_step.arguments)[:160] and outline["thought"] == long_step.thought[:160]
    )
    assert [row["diff"] for row in queries.edits(engine, first, 3)] == [DIFF] * 4
    stood = queries.last_step_with(engine, first, 3, "tests")
    assert stood is not None and (stood["index"], stood["state"]["tests"]) == (3, STATE["tests"])
    assert queries.last_step_with(engine, first, 3, "event") is None
    assert queries.actions(engine, first)[4]["arguments"] == json.dumps(long_step.arguments)[:2000]
    with engine.connect() as connection:
        contents = connection.execute(select(func.count(), func.sum(func.length(BLOB.c.content)))).one()
    assert contents[0] == 3 + 1 + 5, "observation, diff, code, the tests' ids; five thoughts"
    assert contents[1] < 3_000


def test_a_repeated_step_is_accepted_and_a_different_one_refused(store: Store, matrix: SimpleNamespace) -> None:
    episode = next(iter(matrix.episodes.values()))
    store.add_step(step(episode, 0))
    store.add_step(step(episode, 0))
    with pytest.raises(ValueError, match="already has another step 0"):
        store.add_step(step(episode, 0, observation=OBSERVATION + "."))
    with pytest.raises(ValueError, match="already has another step 0"):
        store.add_step(step(episode, 0, arguments={"code": "print(2)\n" * 200}))


def test_queries_of_steps_do_not_grow_with_their_number(
    engine: Engine, store: Store, matrix: SimpleNamespace, statements: list[str]
) -> None:
    episode = next(iter(matrix.episodes.values()))
    counts = []
    for index in range(20):
        store.add_step(step(episode, index))
        if index in (1, 19):
            statements.clear()
            queries.steps(engine, episode, exchanges=True)
            queries.step_outline(engine, episode)
            queries.edits(engine, episode, index)
            counts.append(len([statement for statement in statements if statement.startswith("SELECT")]))
    assert counts[0] == counts[1] <= 10


@pytest.fixture
def statements(engine: Engine) -> Iterator[list[str]]:
    from sqlalchemy import event

    recorded: list[str] = []

    def record(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        recorded.append(statement)

    event.listen(engine, "before_cursor_execute", record)
    yield recorded
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
def test_check_constraints_refuse_bad_rows(filled: Engine, change: str) -> None:
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


def test_models_and_database_have_the_same_constraints(filled: Engine) -> None:
    """Where this fails after a new term: a migration with `set_check` for its table, as `test_upgrade` shows."""
    for table in SQLModel.metadata.sorted_tables:
        declared = {str(rule.name): str(rule.sqltext) for rule in table.constraints if hasattr(rule, "sqltext")}
        stored = {str(rule["name"]): rule["sqltext"] for rule in inspect(filled).get_check_constraints(table.name)}
        assert stored.keys() == declared.keys()
        if filled.dialect.name == "sqlite":
            assert stored == declared
        else:
            for name, condition in declared.items():
                terms = {part for part in condition.split("'")[1::2] if part}
                assert terms == {part for part in stored[name].split("'")[1::2] if part}


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
    sqlite, postgresql = connect(f"sqlite:///{tmp_path / 'x.db'}"), connect(postgres.create("migrated"))
    copy(engine, sqlite, lambda *_: None)
    copy(sqlite, postgresql, lambda *_: None)
    assert all_steps(postgresql) == all_steps(sqlite) == all_steps(engine)
    for database in (engine, sqlite, postgresql):
        database.dispose()


def test_episodes_are_found_by_tool(engine: Engine, store: Store, matrix: SimpleNamespace) -> None:
    first, two, three, *_ = matrix.episodes.values()
    for episode, tool in ((first, "pdb"), (first, "eval"), (two, "view"), (three, "pdb")):
        index = queries.last_step(engine, episode)
        store.add_step(Step(episode_id=episode, index=0 if index is None else index + 1, tool=tool))
    store.fail_episode(three, stop_reason="error", error="the sandbox: gone")
    episodes_by_tool = {
        tool: [row["id"] for row in queries.episodes(engine, tool=tool)] for tool in ("pdb", "view", "none")
    }
    assert episodes_by_tool == {"pdb": [first, three], "view": [two], "none": []}
    assert [row["id"] for row in queries.episodes(engine, tool=["pdb", "view"])] == sorted([first, two, three])
    with engine.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(STEP)) == 4
