"""What is written: bad cases first."""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, event, func, select, text

from stackrank.agents.episode.step import Step as Played
from stackrank.agents.episode.step import Usage
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.errors import DatabaseError, NotFound
from stackrank.db.connection.transactions import EPISODE
from stackrank.db.models.runs import Step
from stackrank.db.totals.counters import differences
from stackrank.db.writes.store import Store
from stackrank.env.actions import Action, Observation
from stackrank.flows.runs.playing.trajectories import to_row
from stackrank.terms import RunStatus
from tests.postgres import Cluster
from tests.support.episodes import create_episodes, start

UNFIT = "a\0b \ud800 \ud83d\ude00 é"
FIT = "a\u2400b \ufffd \U0001f600 é"


def finish(store: Store, episode: int, verdict: str = "resolved", **options: Any) -> None:
    start(store, episode)
    reason = {"resolved": "solved", "unresolved": "step_limit", "error": "error"}[verdict]
    store.finish_episode(episode, verdict=verdict, stop_reason=reason, **options)


def test_unknown_ids_are_refused(store: Store, matrix: SimpleNamespace) -> None:
    for call in (
        lambda: store.start_run(999),
        lambda: store.heartbeat(999),
        lambda: store.end_run(999, "finished"),
        lambda: store.finish_episode(999, verdict="resolved", stop_reason="solved"),
        lambda: store.retry_episode(999),
        lambda: store.save_validation(matrix.benchmark.id, {"nobody": (True, "")}),
    ):
        with pytest.raises(NotFound):
            call()
    for call in (
        lambda: store.add_step(Step(episode_id=999, index=0)),
        lambda: store.create_run(name="x", benchmark_id=999, spec={}),
    ):
        with pytest.raises(ValueError, match="refused"):
            call()


def test_invalid_calls_are_refused(store: Store, matrix: SimpleNamespace) -> None:
    episode = next(iter(matrix.episodes.values()))
    with pytest.raises(ValueError, match="unknown task columns"):
        store.save_benchmark(name="x", digest="x", license="", source="", tasks=[{"name": "t", "hint": "h"}])
    with pytest.raises(ValueError, match="two tasks"):
        store.save_benchmark(name="x", digest="x", license="", source="", tasks=[{"name": "t"}, {"name": "t"}])
    with pytest.raises(ValueError):
        store.end_run(matrix.run, "running")
    with pytest.raises(ValueError):
        store.finish_episode(episode, verdict="perhaps", stop_reason="")
    finish(store, episode)
    with pytest.raises(ValueError, match="another verdict"):
        store.finish_episode(episode, verdict="unresolved", stop_reason="")
    assert store.retry_episode(episode) is None
    assert queries.episode(store.engine, episode)["verdict"] == "resolved"


def test_a_run_is_created_with_all_its_episodes_or_not_at_all(store: Store, matrix: SimpleNamespace) -> None:
    fields = {"benchmark_id": matrix.benchmark.id, "spec": {}}
    with pytest.raises(ValueError, match="refused"):
        store.create_run(name="half", cells=[*matrix.cells, (999, matrix.one, 1)], **fields)
    with pytest.raises(NotFound):
        queries.run(store.engine, "half")
    run = store.create_run(name="whole", cells=[*matrix.cells, matrix.cells[0]], sandbox="docker", **fields)
    assert queries.run(store.engine, run)["episodes_total"] == len(matrix.cells)
    assert {row["sandbox"] for row in queries.episodes(store.engine, run)} == {"docker"}


def test_a_cell_has_one_counted_episode(store: Store, matrix: SimpleNamespace) -> None:
    with store.engine.connect() as connection, pytest.raises(Exception, match=r"(?i)unique"):
        columns = "run_id, task_id, entrant_id, attempt, counted, status, verdict, stop_reason, failure_point, steps"
        sums = "tampered, tokens_in, tokens_out, env_ms, model_ms, score_ms, wall_s, tests_passed, tests_failed"
        optional = (
            "tokens_cached, tokens_reasoning, usage, tags, claimed_by, interruptions, replayed, sealed, mended, "
            "faults_total, unverified, error_class"
        )
        names = f"{columns}, {sums}, error, diff, score, sandbox, {optional}"
        connection.execute(text(f"INSERT INTO episode (try_number, {names}) SELECT 7, {names} FROM episode"))


def test_a_verdict_and_done_go_together(store: Store, matrix: SimpleNamespace) -> None:
    for change in ("status = 'done'", "verdict = 'resolved'", "verdict = 'maybe', status = 'done'"):
        with store.engine.connect() as connection, pytest.raises(Exception, match=r"(?i)check"):
            connection.execute(text(f"UPDATE episode SET {change}"))


def test_unstorable_values_are_made_storable(store: Store) -> None:
    spec = {UNFIT: [UNFIT, float("nan"), float("inf"), b"\xff\0", {1, 2} & {1}, ("t", None, True, 3)], "x": object}
    deep: Any = "end"
    for _ in range(300):
        deep = [deep]
    benchmark = store.save_benchmark(
        name="b", digest="1", license="", source=UNFIT, tasks=[{"name": "t", "statement": UNFIT, "tags": (UNFIT,)}]
    )
    entrant = store.save_entrant(digest="e", name=UNFIT, agent="a", config={"deep": deep})
    run = store.create_run(name=UNFIT, benchmark_id=benchmark.id, spec=spec)
    (episode,) = create_episodes(store, run, [(benchmark.task_ids["t"], entrant, 1)]).values()
    store.add_step(
        Step(
            episode_id=episode, index=0, observation=UNFIT, thought=UNFIT, arguments={"code": UNFIT}, state={"x": UNFIT}
        )
    )
    finish(store, episode, error=UNFIT, diff=UNFIT, score={"notes": [UNFIT]})
    (step,) = queries.steps(store.engine, episode)
    assert (step["observation"], step["thought"]) == (FIT, FIT)
    assert (step["arguments"], step["state"]) == ({"code": FIT}, {"x": FIT})
    row = queries.episode(store.engine, episode)
    assert (row["error"], row["diff"], row["statement"], row["entrant"]) == (FIT, FIT, FIT, FIT)
    stored = queries.run(store.engine, run)["spec"]
    assert stored[FIT] == [FIT, "nan", "inf", "\ufffd\u2400", [1], ["t", None, True, 3]]
    assert "(nested too deep)" in str(queries.entrants(store.engine)[0]["config"])


def test_a_tool_of_any_name_is_stored(store: Store, matrix: SimpleNamespace) -> None:
    """A model can call a tool by megabytes, and PostgreSQL refuses such a key of an index."""
    episode, chance = next(iter(matrix.episodes.values())), random.Random(1)
    for index, size in enumerate((3, 200, 100_000)):
        name = "".join(chr(chance.randrange(0x4E00, 0x9FFF)) for _ in range(size))
        store.add_step(to_row(episode, Played(index, Action(name), Observation("There is no such tool.", False))))
    finish(store, episode)
    assert [len(step["tool"]) for step in queries.steps(store.engine, episode)] == [3, 200, 200]


def test_tokens_of_a_long_episode_are_counted(store: Store, matrix: SimpleNamespace) -> None:
    """10,000 steps of a million tokens are more than 32 bits."""
    episode = next(iter(matrix.episodes.values()))
    usage = Usage(tokens_in=10**7, tokens_out=10**7, tokens_cached=10**7, tokens_reasoning=10**7)
    store.add_step(to_row(episode, Played(0, Action("eval"), Observation(""), usage=usage)))
    many = 10**10
    finish(store, episode, steps=1, tokens_in=many, tokens_out=many, tokens_cached=many, tokens_reasoning=many)
    row = queries.episode(store.engine, episode)
    assert row["tokens_in"] == row["tokens_out"] == row["tokens_cached"] == row["tokens_reasoning"] == many
    with store.engine.connect() as connection:
        assert differences(connection) == {}
        total = connection.scalar(select(func.sum(EPISODE.c.tokens_in)))
        assert type(total) is int and total == many
        assert connection.scalar(select(func.count()).where(EPISODE.c.tokens_in > many - 0.5)) == 1


def test_steps_are_appended_once(store: Store, matrix: SimpleNamespace) -> None:
    episode = next(iter(matrix.episodes.values()))
    store.add_step(Step(episode_id=episode, index=0, observation="start"))
    store.add_step(
        Step(episode_id=episode, index=1, tool="pdb", arguments={"command": "b 3"}, observation="ok", cost_usd=0.1)
    )
    store.add_step(
        Step(episode_id=episode, index=1, tool="pdb", arguments={"command": "b 3"}, observation="ok", cost_usd=0.1)
    )
    with pytest.raises(ValueError, match="another step 1"):
        store.add_step(Step(episode_id=episode, index=1, tool="pdb", arguments={"command": "c"}, observation="ok"))
    assert [step["index"] for step in queries.steps(store.engine, episode)] == [0, 1]
    assert queries.steps(store.engine, episode, first=1)[0] == {
        "index": 1,
        "tool": "pdb",
        "arguments": {"command": "b 3"},
        "thought": "",
        "observation": "ok",
        "ok": True,
        "state": {},
        "env_ms": 0.0,
        "model_ms": 0.0,
        "tokens_in": 0,
        "tokens_out": 0,
        "tokens_cached": 0,
        "tokens_reasoning": 0,
        "cost_usd": 0.1,
        "milestones": [],
        "distance": "",
        "distance_lines": None,
        "parent": 0,
        "investigation": None,
    }


def test_sixteen_threads_write_at_once(store: Store, matrix: SimpleNamespace) -> None:
    episodes = create_episodes(store, matrix.run, [(cell[0], cell[1], n) for cell in matrix.cells for n in (1, 2, 3)])
    ids = list(episodes.values())[:16]
    barrier = threading.Barrier(16)

    def play(episode: int) -> None:
        barrier.wait()
        start(store, episode)
        for index in range(12):
            store.add_step(Step(episode_id=episode, index=index, tool="eval", observation="x" * 200))
            store.heartbeat(matrix.run)
        store.finish_episode(episode, verdict="resolved", stop_reason="solved", steps=11)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(play, ids))
    assert all(len(queries.steps(store.engine, episode)) == 12 for episode in ids)
    assert queries.run(store.engine, matrix.run)["resolved"] == 16


def test_many_threads_write_the_same_rows(store: Store) -> None:
    tasks = [{"name": f"t{n}", "statement": "s"} for n in range(40)]

    def save(_: int) -> tuple[int, int]:
        saved = store.save_benchmark(name="b", digest="d", license="", source="", tasks=tasks)
        return saved.id, store.save_entrant(digest="e", name="e", agent="a")

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(save, range(16)))) == 1


def test_writes_to_a_locked_database_are_retried(tmp_path: Any) -> None:
    file = tmp_path / "x.db"
    opened = connect(f"sqlite:///{file}", timeout_s=0.1)
    store = Store(opened, attempts=30)
    locking = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    locking.execute("BEGIN IMMEDIATE")
    threading.Timer(0.6, lambda: locking.execute("ROLLBACK")).start()
    start_time = time.monotonic()
    assert store.save_entrant(digest="e", name="e", agent="a") == 1
    assert time.monotonic() - start_time > 0.4
    locking.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseError, match="is locked by another program"):
        Store(opened, attempts=2).save_entrant(digest="f", name="f", agent="a")
    assert len(queries.entrants(opened)) == 1  # readers are not held up
    locking.execute("ROLLBACK")
    locking.close()
    opened.dispose()


def test_a_lost_connection_is_reopened(postgres: Cluster) -> None:
    opened = connect(postgres.create("migrated"))
    store = Store(opened)
    name = opened.url.database
    end = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    store.save_entrant(digest="e", name="e", agent="a")
    postgres.execute(end)
    assert store.save_entrant(digest="f", name="f", agent="a") == 2
    cut = []

    @event.listens_for(opened, "before_cursor_execute")
    def in_the_middle(*_: Any) -> None:
        if not cut:
            cut.append(True)
            postgres.execute(end)

    assert store.save_entrant(digest="g", name="g", agent="a") == 3
    opened.dispose()


def test_an_unreachable_server_is_reported(postgres: Cluster) -> None:
    url = postgres.create("migrated")
    opened = connect(url)
    name = opened.url.database
    opened.dispose()
    postgres.execute(f"DROP DATABASE {name}")
    with pytest.raises(DatabaseError, match="is missing"):
        Store(opened, attempts=2).save_entrant(digest="e", name="e", agent="a")
    with pytest.raises(DatabaseError, match="is missing"):
        queries.runs(opened)


def test_saving_a_benchmark_twice_updates_it(store: Store, engine: Engine) -> None:
    tasks = [{"name": "t", "statement": "old", "faults": [{"file": "a.py", "functions": [], "lines": [3]}]}]
    first = store.save_benchmark(name="b", digest="d", license="MIT", source="x", tasks=tasks)
    store.save_validation(first.id, {"t": (False, "passes as given")})
    second = store.save_benchmark(
        name="b", digest="d", license="MIT", source="y", tasks=[{"name": "t", "statement": "new"}, {"name": "u"}]
    )
    assert second.id == first.id and second.task_ids["t"] == first.task_ids["t"]
    task = queries.task(engine, first.task_ids["t"])
    assert (task["statement"], task["valid"], task["invalid_reason"]) == ("new", False, "passes as given")
    benchmark = queries.benchmark(engine, "b")
    assert (benchmark["source"], benchmark["tasks_total"], benchmark["tasks_valid"]) == ("y", 2, 0)
    assert benchmark["validated_at"].endswith("+00:00")
    assert store.save_benchmark(name="b", digest="e", license="", source="", tasks=[]).id != first.id


def test_a_run_from_start_to_end(store: Store, matrix: SimpleNamespace) -> None:
    engine = store.engine
    assert queries.run(engine, "r")["wall_s"] is None
    store.start_run(matrix.run)
    started = queries.run(engine, "r")["started_at"]
    assert store.heartbeat(matrix.run) is RunStatus.RUNNING
    assert store.interrupted_runs(60) == []
    assert [run["id"] for run in store.interrupted_runs(-1)] == [matrix.run]
    assert store.end_run(matrix.run, "cancelled", "by ada")
    assert store.heartbeat(matrix.run) is RunStatus.CANCELLED
    assert not store.end_run(matrix.run, "finished"), "the owner comes too late"
    run = queries.run(engine, "r")
    assert (run["status"], run["reason"], run["started_at"]) == ("cancelled", "by ada", started)
    assert store.reopen_run(run) and store.start_run(matrix.run)
    run = queries.run(engine, "r")
    assert (run["status"], run["ended_at"], run["started_at"]) == ("running", None, started)
    store.end_run(matrix.run, "failed", "no sandbox")
    assert queries.run(engine, "r")["status"] == "failed"


def test_an_unmeasured_task_keeps_another_machine_s_measurements(engine: Engine, store: Store) -> None:
    difficulty = {"predicted": 6.0, "label": "hard"}

    def save(**task: Any) -> tuple[str, Any]:
        fields = {"digest": "b", "license": "", "source": ""}
        store.save_benchmark(name="bugs", **fields, tasks=[{"name": "t", "digest": "d", **task}])
        (row,) = queries.tasks(engine, "bugs")
        return row["difficulty"], row["measured"]

    assert save(difficulty="easy") == ("easy", None)
    assert save(difficulty="hard", measured=difficulty) == ("hard", difficulty)
    assert save(difficulty="easy", measured=None) == ("hard", difficulty), "this machine has not measured it"
    assert save(difficulty="medium", measured={"label": "medium"}) == ("medium", {"label": "medium"})


def test_a_large_run_is_created_in_parts(
    store: Store, matrix: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stackrank.db.writes.store._PART", 4)
    run = store.create_run(name="r", benchmark_id=matrix.benchmark.id, spec={}, cells=[*matrix.cells, *matrix.cells])
    row = queries.run(store.engine, run)
    assert (row["episodes_total"], row["pending"]) == (len(matrix.cells), len(matrix.cells))
    rows = queries.episodes(store.engine, run)
    assert [(row["task_id"], row["entrant_id"], row["attempt"]) for row in rows] == matrix.cells
