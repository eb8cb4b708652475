"""Queries of runs, episodes, steps and tasks: empty and odd databases first."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.connection.errors import NotFound
from stackrank.db.queries import Scope
from stackrank.db.writes.store import Store
from tests.dashboard.seed import HOSTILE, Seeded
from tests.support.episodes import start


def test_an_empty_database(engine: Engine) -> None:
    assert queries.leaderboard(engine) == []
    assert queries.leaderboard(engine, Scope(benchmark="bugs", tags=["x"])) == []
    assert queries.runs(engine) == [] and queries.benchmarks(engine) == [] and queries.entrants(engine) == []
    assert queries.episodes(engine) == []
    assert queries.neighbours(engine, 1) == {"previous": None, "next": None}
    with pytest.raises(NotFound, match="stackrank run"):
        queries.run(engine, "latest")
    with pytest.raises(NotFound):
        queries.compare(engine, "a", "b")


@pytest.mark.parametrize("ref", ["nowhere", "0", "99", "999999999999999999999", "-1", "", "1; DROP TABLE run", "é\0"])
def test_unknown_references_raise_not_found(store: Store, matrix: SimpleNamespace, ref: str) -> None:
    for ask in (queries.run, queries.run_summary, queries.episodes, queries.benchmark):
        with pytest.raises(NotFound) as caught:
            ask(store.engine, ref)
        assert "`stackrank" in str(caught.value)
    with pytest.raises(NotFound):
        queries.failure_points(store.engine, Scope(run=ref))
    with pytest.raises(NotFound):
        queries.episode(store.engine, ref)
    with pytest.raises(NotFound):
        queries.task(store.engine, ref)  # type: ignore[arg-type]


def test_a_run_without_episodes(store: Store, engine: Engine) -> None:
    benchmark = store.save_benchmark(name="b", digest="d", license="", source="", tasks=[])
    run = store.create_run(name="empty", benchmark_id=benchmark.id, spec={})
    store.start_run(run)
    store.end_run(run, "finished")
    summary = queries.run_summary(engine, "latest")
    assert (summary["episodes"], summary["entrants"], summary["status"]) == (0, [], "finished")
    assert queries.failure_points(engine, Scope(run=run)) == [] and queries.leaderboard(engine, Scope(run=run)) == []
    assert queries.runs(engine)[0]["done"] == 0


def test_finding_runs(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    assert queries.run(engine, "nightly")["id"] == queries.run(engine, "latest")["id"] == contents.runs[-1]
    assert (
        queries.run(engine, contents.runs[0])["id"]
        == queries.run(engine, str(contents.runs[0]))["id"]
        == contents.runs[0]
    )
    assert [run["id"] for run in queries.runs(engine, limit=2)] == contents.runs[:0:-1]
    assert [run["id"] for run in queries.runs(engine, before_id=contents.runs[1])] == contents.runs[:1]
    assert [run["id"] for run in queries.runs(engine, status="running", name="GHT")] == [contents.live_run]
    assert (
        queries.runs(engine, owner="ada", project="debuggers", leaderboard="nightly", benchmark="bugs", name="%") == []
    )
    live = queries.run(engine, contents.live_run)
    assert live["done"] + live["running"] + live["pending"] == live["episodes_total"] == 60
    assert live["running"] == 3 and len(live["entrants"]) == 3 and live["spec"]["benchmark"] == "bugs"
    json.dumps(live, allow_nan=False)


def test_filtering_and_paging_episodes(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    first = contents.runs[0]
    all_rows = queries.episodes(engine, first)
    assert len(all_rows) == 60
    paged: list[int] = []
    while page := queries.episodes(engine, first, after_id=paged[-1] if paged else None, limit=7):
        paged += [row["id"] for row in page]
    assert paged == [row["id"] for row in all_rows]
    newest = queries.episodes(engine, first, newest_first=True, limit=2)
    assert [row["id"] for row in newest] == paged[:-3:-1]
    assert queries.episodes(engine, first, newest_first=True, after_id=newest[-1]["id"], limit=1)[0]["id"] == paged[-3]

    def ids(**filters: Any) -> list[int]:
        return [row["id"] for row in queries.episodes(engine, first, **filters)]

    by_verdict = {v: ids(verdict=v) for v in ("resolved", "unresolved", "error")}
    assert sorted(row_id for rows in by_verdict.values() for row_id in rows) == paged
    assert ids(verdict=["resolved", "error"]) == sorted(by_verdict["resolved"] + by_verdict["error"])
    unresolved = [row for row in all_rows if row["verdict"] == "unresolved"]
    point = unresolved[0]["failure_point"]
    assert ids(failure_point=point) == [row["id"] for row in unresolved if row["failure_point"] == point]
    assert ids(stop_reason="solved") == [row["id"] for row in all_rows if row["stop_reason"] == "solved"]
    assert ids(tool="pdb") == ids(entrant=["qwen3-coder / debug", "llama-3.3-70b / debug"])
    assert len(ids(task="page-cache")) == len(ids(text="age CAC")) == 3
    assert ids(text="did not answer") == by_verdict["error"] and ids(text="%") == []
    assert ids(steps_min=8, steps_max=9) == [row["id"] for row in all_rows if 8 <= row["steps"] <= 9]
    assert ids(cost_min=0.03) == [row["id"] for row in all_rows if (row["cost_usd"] or 0) >= 0.03]
    assert "diff" not in all_rows[0] and all_rows[0]["run"] == "nightly"
    assert len(queries.episodes(engine, limit=1000)) == 180
    assert len(queries.episodes(engine, contents.live_run, status="pending")) == 17
    json.dumps(all_rows, allow_nan=False)


def test_one_episode_and_its_steps(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    episode = queries.episode(engine, contents.hostile)
    assert (
        episode["benchmark"] == "bugs"
        and episode["faults"][0]["lines"] == [14]
        and "Find out why" in episode["statement"]
    )
    steps = queries.steps(engine, contents.hostile)
    assert [step["index"] for step in steps] == list(range(episode["steps"] + 1))
    assert steps[2]["thought"] == HOSTILE and len(steps[2]["observation"]) > 30_000
    outline = queries.step_outline(engine, contents.hostile, first=2, limit=1)[0]
    assert outline["arguments"].startswith('{"code"') and len(outline["thought"]) == len(HOSTILE)
    assert queries.steps(engine, contents.hostile, first=99) == []
    around = queries.neighbours(engine, contents.hostile)
    assert around["previous"] is None and around["next"]["run_id"] == contents.runs[1]
    assert queries.neighbours(engine, around["next"]["id"])["previous"]["id"] == contents.hostile
    json.dumps({**episode, "steps": steps}, allow_nan=False)


def test_one_step_of_many_megabytes(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    step = queries.step(engine, contents.hostile, 2, chars=100)
    assert step is not None
    assert len(step["observation"]) == 100 and step["observation_chars"] > 30_000
    assert step["arguments"] is None and len(step["arguments_text"]) == 100 < step["arguments_chars"]
    full_step = queries.step(engine, contents.hostile, 2)
    assert full_step is not None and full_step["arguments"] == {"code": HOSTILE} and not full_step["asked"]
    assert len(queries.step_text(engine, contents.hostile, 2, "observation", chars=25_000)) == 25_000
    assert json.loads(queries.step_text(engine, contents.hostile, 2, "arguments", chars=25_000)) == {"code": HOSTILE}
    assert queries.step(engine, contents.hostile, 99) is None
    assert queries.step_text(engine, contents.hostile, 99, "thought", chars=9) == ""


def test_the_step_outline_shows_debugger_states(seeded: tuple[Engine, Seeded]) -> None:
    engine, contents = seeded
    episode = contents.episodes[3]
    last = queries.last_step(engine, episode)
    assert last is not None
    outline = queries.step_outline(engine, episode)
    assert [row["index"] for row in outline] == list(range(last + 1))
    assert (outline[0]["passed"], outline[0]["failed"], outline[0]["file"]) == ("3", "2", None)
    paused = [row for row in outline if row["tool"] == "pdb"]
    assert {(row["file"], row["function"]) for row in paused} == {("core.py", "Book.total")}
    assert all(row["line"].isdigit() and row["depth"].isdigit() for row in paused)
    (edit,) = queries.edits(engine, episode, last)
    assert (edit["index"], edit["tool"]) == (last - 1, "rewrite") and "+        for item in items:\n" in edit["diff"]
    assert queries.edits(engine, episode, last - 2) == []
    stood = queries.last_step_with(engine, episode, last, "breakpoints")
    assert stood is not None and stood["index"] == paused[-1]["index"] and stood["state"]["locals"]
    assert queries.last_step_with(engine, episode, 0, "breakpoints") is None
    assert [row["tool"] for row in queries.actions(engine, episode)] == [row["tool"] for row in outline]
    assert queries.exchanges(engine, episode, 1) == [] == queries.exchanges(engine, episode, 99)
    assert "x = 1" in queries.task_files(engine, episode)["core.py"]
    with pytest.raises(NotFound, match="no episode 99999"):
        queries.task_files(engine, 99999)


def test_tasks_and_benchmarks(seeded: tuple[Engine, Seeded]) -> None:
    engine, _ = seeded
    assert queries.benchmarks(engine)[0]["runs"] == 3
    assert len(queries.tasks(engine, "bugs")) == 20 and queries.tasks(engine, "bugs", valid=True) == []
    assert len(queries.entrants(engine, name="qwen3-coder / debug")) == 1


def test_resolved_by_counts_an_agents_episodes(engine: Engine, store: Store, matrix: SimpleNamespace) -> None:
    name = queries.benchmarks(engine)[0]["name"]
    assert queries.resolved_by(engine, name, "nobody") == {}
    ((task, entrant, _), episode), *_ = matrix.episodes.items()
    agent = next(row["agent"] for row in queries.entrants(engine) if row["id"] == entrant)
    start(store, episode)
    store.finish_episode(episode, verdict="resolved", stop_reason="submitted")
    (key,) = queries.resolved_by(engine, name, agent)
    assert queries.resolved_by(engine, name, agent) == {key: (1, 1)}
    assert key[0] == next(row["name"] for row in queries.tasks(engine, name) if row["id"] == task)
