"""Runs go with everything that is theirs, and what was archived before is all there."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import Engine, func, select, update
from sqlmodel import SQLModel

from stackrank.db import queries
from stackrank.db.connection.errors import DatabaseError, NotFound
from stackrank.db.connection.transactions import CHANGE, RUN
from stackrank.db.maintenance.archive import archive
from stackrank.db.maintenance.prune import Pruning, counted, ended_runs
from stackrank.db.writes.notes import Notes
from stackrank.db.writes.store import Store
from stackrank.host.wall_clock import now
from tests.dashboard.seed import seed
from tests.db.storage.test_storage import step
from tests.support.episodes import create_episodes, start


@pytest.fixture
def runs(engine: Engine) -> list[int]:
    """Two runs that are over and share texts and a change, and one that goes on."""
    store = Store(engine)
    seeded = seed(engine, runs=3, live=True, tasks=3)
    for run in seeded.runs[:2]:
        store.start_run(run)
        episode = queries.episodes(engine, run, limit=1)[0]
        last = queries.last_step(engine, episode["id"]) or 0
        store.add_step(step(episode["id"], last + 1, state={"odd": [1.5, None, "\u2028é🐞" * 400], "big": 2**60}))
        store.end_run(run, "finished")
        Notes(engine).add(run, "Look at this.", author="ada", episode_id=episode["id"])
    return seeded.runs


def add_verdict(engine: Engine, run: int, change: tuple[str, bytes]) -> None:
    store = Store(engine)
    row = queries.episodes(engine, run, limit=1)[0]
    cell = (row["task_id"], row["entrant_id"], 90 + len(change[0]))
    episode = create_episodes(store, run, [cell])[cell]
    start(store, episode)
    names = ("task_digest", "workspace", "scorer", "environment", "unsealed")
    record = {**dict.fromkeys(names, ""), "change": change[0], "resolved": True, "tampered": False, "sealed": 3}
    record |= {"tests": {"t": "passed"}, "notes": []}
    store.finish_episode(episode, verdict="resolved", stop_reason="solved", record=record, change=change)


def rows_of(engine: Engine) -> dict[str, int]:
    with engine.connect() as connection:
        tables = SQLModel.metadata.sorted_tables
        return {table.name: connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables}


def test_pruning_deletes_only_rows_of_the_run(engine: Engine, runs: list[int]) -> None:
    first, second, live = runs
    for run in (first, second):
        add_verdict(engine, run, ("both", b"+both"))
    add_verdict(engine, first, ("one", b"+one"))
    old_rows, other_run = rows_of(engine), queries.run(engine, second)
    steps = [queries.steps(engine, row["id"], exchanges=True) for row in queries.episodes(engine, second)]
    going = counted(engine, [first])
    assert all(
        going[name] for name in ("run", "episode", "step", "blob", "verdicts", "note", "tooluse", "episode_tool")
    )
    pruning = Pruning(engine)
    assert pruning.delete_run(first) == going
    assert pruning.delete_changes() == 1
    new_rows = rows_of(engine)
    assert new_rows == {name: count - going.get(name, 0) - (name == "change") for name, count in old_rows.items()}
    with engine.connect() as connection:
        assert connection.scalars(select(CHANGE.c.digest)).all() == ["both"]
    assert queries.run(engine, second) == {**other_run, "wall_s": queries.run(engine, second)["wall_s"]}
    assert [queries.steps(engine, row["id"], exchanges=True) for row in queries.episodes(engine, second)] == steps
    with pytest.raises(NotFound):
        queries.run(engine, first)
    assert queries.run(engine, live)["status"] == "running"
    assert set(pruning.delete_run(first).values()) == {0}, "again, as after a crash"


def test_runs_are_selected_by_reference_age_and_tag(engine: Engine, runs: list[int]) -> None:
    first, second, live = runs
    old = now() - timedelta(days=100)
    with engine.begin() as connection:
        connection.execute(update(RUN).where(RUN.c.id == first).values(created_at=old, tags=["smoke"]))

    def meant(*refs: str, **filters: Any) -> list[int]:
        return [run["id"] for run in ended_runs(engine, refs, **filters)]

    assert meant() == [first, second], "never one that goes on"
    assert meant(older_than_days=99.0) == [first] == meant(tag="smoke") == meant(str(first), str(first))
    assert meant(str(second), older_than_days=99.0) == [] == meant(older_than_days=101.0)
    with pytest.raises(DatabaseError, match=f"run {live} .* is running.*stackrank cancel {live}"):
        meant(str(live))
    with pytest.raises(NotFound):
        meant("nowhere")


def test_an_archive_has_everything_that_pruning_deletes(engine: Engine, runs: list[int], tmp_path: Path) -> None:
    first, second, _ = runs
    add_verdict(engine, first, ("one", b"+one\0\xff"))
    expected = counted(engine, [first])
    episodes = queries.episodes(engine, first, counted=None, limit=1000)
    steps = {row["id"]: queries.steps(engine, row["id"], exchanges=True) for row in episodes}
    run = queries.run(engine, first)
    Store(engine).save_validation(run["benchmark_id"], {episodes[0]["task"]: (False, "passes as given")})
    row_counts = archive(engine, [first], tmp_path / "kept")
    Pruning(engine).delete_run(first)

    def table(name: str) -> list[dict[str, Any]]:
        frame = pd.read_parquet(tmp_path / "kept" / f"{name}.parquet", dtype_backend="pyarrow")
        return [{k: None if pd.isna(v) else v for k, v in row.items()} for row in frame.to_dict("records")]

    names = {"runs": "run", "episodes": "episode", "steps": "step", "verdicts": "verdicts", "notes": "note"}
    assert {name: len(table(name)) for name in names} == {
        name: expected[table_name] for name, table_name in names.items()
    }
    assert json.loads((tmp_path / "kept" / "archive.json").read_text())["rows"] == row_counts
    (stored,) = table("runs")
    assert (json.loads(stored["spec"]), stored["name"], stored["seed"]) == (run["spec"], run["name"], run["seed"])
    assert stored["created_at"].isoformat() == run["created_at"]
    assert {row["digest"]: row["content"] for row in table("changes")} == {"one": b"+one\0\xff"}
    texts = ("arguments", "state", "exchanges", "milestones")
    for row in table("steps"):
        step = next(candidate for candidate in steps[row["episode_id"]] if candidate["index"] == row["index"])
        del step["investigation"], step["parent"]  # worked out from the steps before it
        assert {
            name: json.loads(value) if name in texts else value for name, value in row.items() if name in step
        } == step
    responses = table("responses")
    assert len(responses) == len([row for row in episodes if row["verdict"] and row["counted"]])
    for row in responses:
        (episode,) = [candidate for candidate in episodes if candidate["id"] == row["episode_id"]]
        assert [row[name] for name in ("task", "entrant", "attempt")] == [
            episode[name]
            for name in ("task", "entrant", "attempt")  # type: ignore[literal-required]
        ]
        assert (row["version"], row["conditions"]) == (run["benchmark_digest"], run["conditions_digest"])
        assert (row["task_valid"] is False) == (row["task"] == episodes[0]["task"])
        assert row["resolved"] is {"resolved": True, "unresolved": False, "error": None}[episode["verdict"]]
    assert queries.run(engine, second)["id"] == second


def test_a_failed_archive_leaves_no_folder(
    engine: Engine, runs: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").touch()
    with pytest.raises(DatabaseError, match="not empty: name a new folder"):
        archive(engine, [runs[0]], tmp_path / "full")

    def broken(*_: Any) -> Any:
        raise DatabaseError("the server went away")

    with monkeypatch.context() as patched:
        patched.setattr(queries, "full_steps", broken)
        with pytest.raises(DatabaseError, match="went away"):
            archive(engine, [runs[0]], tmp_path / "new")
    assert not (tmp_path / "new").exists() and not (tmp_path / "new.part").exists()
    assert archive(engine, [runs[0]], tmp_path / "new")["runs"] == 1
