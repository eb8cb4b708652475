"""How steps are stored: whole, once, in partitions; by what rules; and how a database from before gets there."""

from __future__ import annotations

import json
import random
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, func, inspect, select, text
from sqlalchemy.exc import IntegrityError
from sqlmodel import SQLModel

from stackrank.db import queries
from stackrank.db.connection.engine import HEAD, _migrate, alembic_config, connect, revision_of
from stackrank.db.connection.errors import DatabaseError
from stackrank.db.connection.transactions import BLOB, EPISODE, STEP
from stackrank.db.maintenance.copy import copy
from stackrank.db.models.runs import Step
from stackrank.db.writes.store import Store
from tests.dashboard.seed import seed
from tests.db.storage import old
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
    stood = queries.last_step_with(engine, first, 3, "tests")
    assert stood is not None and (stood["index"], stood["state"]["tests"]) == (3, STATE["tests"])
    assert queries.last_step_with(engine, first, 3, "event") is None
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
    """Where this fails after a new term: a migration with `set_check` for its table, as 0008 has them."""
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


def test_going_back_a_version_and_forth_changes_no_step(engine: Engine) -> None:
    from alembic import command

    seed(engine, runs=2, live=True, tasks=4)
    episode = queries.episodes(engine, limit=1)[0]["id"]
    Store(engine).add_step(step(episode, 900))
    before = all_steps(engine)
    config = alembic_config()
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        config.attributes["connection"] = connection
        command.downgrade(config, "0007")
        columns = {column["name"]: str(column["type"]) for column in inspect(connection).get_columns("step")}
        assert columns["state"] == "JSON"
    connect(str(engine.url.render_as_string(hide_password=False)), upgrade=True).dispose()
    assert all_steps(engine) == before
    with pytest.raises(IntegrityError), engine.begin() as connection:
        connection.execute(text("UPDATE run SET status = 'whatever'"))


@pytest.fixture
def before_packing(tmp_path: Path) -> Path:
    """A database of an old version, with texts of all kinds added."""
    old.restore(file := tmp_path / "stackrank.db")
    dice = random.Random(7)
    with closing(sqlite3.connect(file)) as connection:
        names = ("arguments", "thought", "observation", "state", "exchanges")
        for episode, index in connection.execute('SELECT episode_id, "index" FROM step').fetchall():
            size = dice.choice((0, 3, 300, 3000))
            odd = {"a": "\ud800" * 3, "b\0": ["\0t" + "0" * 32, "é🐞" * size], "c": {"n": 1.0, "e": 1e-300, "i": 2**60}}
            values = [json.dumps(odd), "é\u2028" * size, OBSERVATION[:size], json.dumps({"x": odd}), json.dumps([odd])]
            sets = ", ".join(f"{name} = ?" for name in names)
            key = (*values, episode, index)
            connection.execute(f'UPDATE step SET {sets} WHERE episode_id = ? AND "index" = ?', key)
        connection.commit()
    return file


def raw(file: Path) -> list[Any]:
    """The steps as the old version stored them."""
    names = ("arguments", "thought", "observation", "state", "exchanges", "milestones")
    with closing(sqlite3.connect(file)) as connection:
        query = f'SELECT episode_id, "index", tool, ok, cost_usd, {", ".join(names)} FROM step ORDER BY 1, 2'
        return [
            (*row[:3], bool(row[3]), row[4], json.loads(row[5]), *row[6:8], *map(json.loads, row[8:]))
            for row in connection.execute(query)
        ]


def now_stored(engine: Engine) -> list[Any]:
    names = (
        "index",
        "tool",
        "ok",
        "cost_usd",
        "arguments",
        "thought",
        "observation",
        "state",
        "exchanges",
        "milestones",
    )
    return [(episode, *(row[name] for name in names)) for episode, rows in all_steps(engine) for row in rows]


def test_an_upgrade_that_was_cut_off_goes_on(before_packing: Path) -> None:
    expected, url = raw(before_packing), f"sqlite:///{before_packing}"
    script = ScriptDirectory.from_config(alembic_config()).get_revision("0008")
    assert script is not None
    module: Any = script.module
    move, moved = module._move, [0]

    def cut_off(*given: Any) -> int:
        if len(moved) > 3:
            raise DatabaseError("the machine went down")
        moved.append(move(*given))
        return moved[-1]

    module._move, module.BATCH = cut_off, 40
    engine = connect(url, migrate=False)
    _migrate(engine, "0007")
    with pytest.raises(DatabaseError, match="went down"):
        module.prepare(engine)
    with engine.connect() as connection:
        assert revision_of(connection) == "0007"
        assert connection.scalar(text("SELECT count(*) FROM step_new")) == 3 * 40
    engine.dispose()
    assert raw(before_packing) == expected, "what was there is untouched"
    with closing(sqlite3.connect(before_packing)) as other:  # an older program goes on meanwhile
        other.execute("CREATE TEMP TABLE late AS SELECT * FROM step WHERE episode_id = 1 LIMIT 1")
        other.execute('UPDATE late SET "index" = 5000')
        other.execute("INSERT INTO step SELECT * FROM late")
        other.commit()
    expected = raw(before_packing)
    engine = connect(url)
    with engine.connect() as connection:
        assert revision_of(connection) == HEAD
        assert not inspect(connection).has_table("step_new")
    assert now_stored(engine) == expected


def test_many_upgrade_at_once(before_packing: Path) -> None:
    expected, url = raw(before_packing), f"sqlite:///{before_packing}"
    failed: list[BaseException] = []

    def upgrade() -> None:
        try:
            connect(url).dispose()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=upgrade) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failed == []
    assert now_stored(connect(url)) == expected


def test_rows_that_break_a_rule_are_named(before_packing: Path) -> None:
    with closing(sqlite3.connect(before_packing)) as connection:
        connection.execute("UPDATE run SET status = 'whatever' WHERE id = 1")
        connection.commit()
    with pytest.raises(DatabaseError, match=r"1 rows of the table run break a rule.*status IN"):
        connect(f"sqlite:///{before_packing}")
    assert raw(before_packing), "nothing is lost"


def test_a_file_gives_back_what_it_does_not_use(tmp_path: Path, before_packing: Path) -> None:
    size = before_packing.stat().st_size
    connect(f"sqlite:///{before_packing}").dispose()
    assert before_packing.stat().st_size < size


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
