"""What is asked: empty and odd databases first."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, delete, event

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.errors import NotComparable, NotFound
from stackrank.db.connection.transactions import TALLY
from stackrank.db.queries import Scope
from stackrank.db.writes.store import Store
from tests.dashboard.seed import HOSTILE, Seeded
from tests.support.databases import Databases
from tests.support.episodes import start


def finish(store: Store, episode: int, verdict: str, **more: Any) -> None:
    start(store, episode)
    totals = {"steps": 4, "tokens_in": 100, "tokens_out": 10, "cost_usd": 0.5, "wall_s": 2.0} | more
    store.finish_episode(episode, verdict=verdict, stop_reason="submitted", **totals)


@pytest.fixture(scope="module")
def seeded(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Any:
    url, made = databases.seeded(tmp_path_factory.mktemp("seeded") / "x.db")
    opened = connect(url)
    yield opened, made
    opened.dispose()


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
def test_references_that_mean_nothing(store: Store, matrix: SimpleNamespace, ref: str) -> None:
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


def test_a_run_of_nothing(store: Store, engine: Engine) -> None:
    benchmark = store.save_benchmark(name="b", digest="d", license="", source="", tasks=[])
    run = store.create_run(name="empty", benchmark_id=benchmark.id, spec={})
    assert store.create_episodes(run, []) == {}
    store.start_run(run)
    store.end_run(run, "finished")
    summary = queries.run_summary(engine, "latest")
    assert (summary["episodes"], summary["entrants"], summary["status"]) == (0, [], "finished")
    assert queries.failure_points(engine, Scope(run=run)) == [] and queries.leaderboard(engine, Scope(run=run)) == []
    assert queries.runs(engine)[0]["done"] == 0


def test_errors_are_in_no_rate(store: Store, matrix: SimpleNamespace) -> None:
    engine = store.engine
    for (_, entrant, _), episode in matrix.episodes.items():
        finish(store, episode, "error" if entrant == matrix.one else "unresolved", error="The model did not answer.")
    store.end_run(matrix.run, "finished")
    rows = {row["entrant"]: row for row in queries.leaderboard(engine)}
    one = rows["one"]
    assert (one["episodes"], one["errors"], one["rate"], one["ci_low"]) == (3, 3, None, None)
    assert (one["steps_mean"], one["cost_per_episode"], one["rank_low"], one["tokens_in"]) == (None, None, None, 0)
    assert (rows["two"]["rate"], rows["two"]["ci_low"], rows["two"]["cost_per_resolved"]) == (0.0, 0.0, None)
    assert [row["entrant"] for row in queries.leaderboard(engine)] == ["two", "one"]
    found = queries.compare(engine, "one", "two")
    assert found["tasks"] == 0 and "no counted task in common" in found["sentence"]
    json.dumps(found)


def test_rows_of_a_leaderboard(store: Store, matrix: SimpleNamespace) -> None:
    engine = store.engine
    verdicts = iter(["resolved", "unresolved", "resolved", "resolved", "error", "unresolved"])
    for cell, episode in matrix.episodes.items():
        unknown = cell[1] == matrix.two and cell[0] == matrix.cells[0][0]
        finish(store, episode, next(verdicts), cost_usd=None if unknown else 0.5)
    one, two = queries.leaderboard(engine, Scope(run="latest"))
    assert (one["entrant"], one["episodes"], one["resolved"], one["errors"], one["rate"]) == ("one", 3, 2, 1, 1.0)
    assert (one["tasks"], one["tasks_total"], one["steps_mean"], one["wall_mean_s"]) == (2, 3, 4.0, 2.0)
    # Three episodes were paid for, one of which ended in an error.
    assert (one["cost_usd"], one["cost_per_episode"], one["cost_per_resolved"]) == (1.5, 0.5, 0.5)
    assert one["tokens_in"] == 200
    assert (two["entrant"], two["rate"], two["all_attempts_rate"]) == (
        "two",
        pytest.approx(1 / 3),
        pytest.approx(1 / 3),
    )
    assert (two["cost_usd"], two["cost_per_resolved"]) == (None, None)  # one price is unknown
    assert [(row["rank_low"], row["rank_high"]) for row in (one, two)] == [(1, 2), (1, 2)]
    json.dumps([one, two], allow_nan=False)
    summary = queries.run_summary(engine, matrix.run)
    assert list(summary) == [
        "run",
        "name",
        "benchmark",
        "status",
        "wall_s",
        "episodes",
        "resolved",
        "sealed",
        "unresolved",
        "errors",
        "stop",
        "entrants",
        "scope",
    ]
    assert list(summary["entrants"][0]) == [
        "entrant",
        "agent",
        "model",
        "tools",
        "episodes",
        "resolved",
        "sealed",
        "unresolved",
        "errors",
        "rate",
        "ci_low",
        "ci_high",
        "steps_mean",
        "tokens_in",
        "tokens_out",
        "cost_usd",
        "reference",
    ]
    assert summary["resolved"] == 3 and summary["run"] == matrix.run


def test_which_runs_and_tasks_count(store: Store, engine: Engine) -> None:
    def play(digest: str, tasks: dict[str, str], verdict: str, **about: Any) -> None:
        benchmark = store.save_benchmark(
            name="bugs",
            digest=digest,
            license="",
            source="",
            tasks=[{"name": n, "digest": d} for n, d in tasks.items()],
        )
        entrant = store.save_entrant(digest="e", name="e", agent="a")
        run = store.create_run(name=digest, benchmark_id=benchmark.id, spec={}, **about)
        for episode in store.create_episodes(
            run, [(task, entrant, 1) for task in benchmark.task_ids.values()]
        ).values():
            finish(store, episode, verdict)
        store.end_run(run, "finished")

    play("v1", {"same": "1", "changed": "1", "gone": "1"}, "unresolved", tags=["old", "x"])
    play("v2", {"same": "1", "changed": "2", "new": "1"}, "resolved", tags=["x"], leaderboard="nightly")
    (row,) = queries.leaderboard(engine)
    # The version that was played last, and nothing of the one before it.
    assert (row["episodes"], row["resolved"], row["tasks"]) == (3, 3, 3)
    assert queries.leaderboard(engine, Scope(run="v1"))[0]["episodes"] == 3
    with pytest.raises(NotComparable, match=r"Runs 1, 2 cannot be pooled: run 2 has another version, v2\."):
        queries.leaderboard(engine, Scope(run=["v1", "v2"]))
    assert queries.leaderboard(engine, Scope(tags=["old", "x"]))[0]["resolved"] == 0
    assert queries.leaderboard(engine, Scope(tags="x", last=1))[0]["episodes"] == 3
    assert queries.leaderboard(engine, Scope(series="nightly"))[0]["episodes"] == 3
    assert queries.leaderboard(engine, Scope(benchmark="other")) == []
    store.save_validation(queries.benchmark(engine, "bugs")["id"], {"same": (False, "passes as given")})
    assert queries.leaderboard(engine)[0]["tasks"] == 2
    assert queries.leaderboard(engine, Scope(run="v2"))[0]["tasks"] == 2
    assert [run["name"] for run in queries.runs(engine, tags="x")] == ["v2", "v1"]
    assert [run["name"] for run in queries.runs(engine, tags=["x", "old"])] == ["v1"]
    assert queries.runs(engine, tags="%") == []


def test_comparing_two(seeded: tuple[Engine, Seeded]) -> None:
    engine, made = seeded
    found = queries.compare(
        engine, "llama-3.3-70b / debug", made.entrants["qwen3-coder / debug"], Scope(run=made.runs[:2])
    )
    assert found["tasks"] <= 20 and found["difference"] > 0.1
    assert found["ci_low"] < found["difference"] < found["ci_high"]
    assert found["first"]["entrant"] == "llama-3.3-70b / debug" and found["second"]["tasks"] == found["tasks"]
    assert set(found["only_first"]).isdisjoint(found["only_second"])
    assert found["sentence"].startswith("qwen3-coder / debug is ") and "points ahead of llama" in found["sentence"]
    back = queries.compare(engine, "qwen3-coder / debug", "llama-3.3-70b / debug", Scope(run=made.runs[:2]))
    assert back["difference"] == pytest.approx(-found["difference"])
    assert back["sentence"].startswith("llama-3.3-70b / debug is ") and "points behind qwen3" in back["sentence"]
    assert (1 + found["uplift"]) * (1 + back["uplift"]) == pytest.approx(1)
    assert f"relatively {100 * found['uplift']:+.0f}% [{100 * found['uplift_low']:+.0f}%" in found["sentence"]
    json.dumps(found, allow_nan=False)
    with pytest.raises(NotFound):
        queries.compare(engine, "nobody", "llama-3.3-70b / debug")


def test_finding_runs(seeded: tuple[Engine, Seeded]) -> None:
    engine, made = seeded
    assert queries.run(engine, "nightly")["id"] == queries.run(engine, "latest")["id"] == made.runs[-1]
    assert queries.run(engine, made.runs[0])["id"] == queries.run(engine, str(made.runs[0]))["id"] == made.runs[0]
    assert [run["id"] for run in queries.runs(engine, limit=2)] == made.runs[:0:-1]
    assert [run["id"] for run in queries.runs(engine, before=made.runs[1])] == made.runs[:1]
    assert [run["id"] for run in queries.runs(engine, status="running", name="GHT")] == [made.live_run]
    assert (
        queries.runs(engine, owner="ada", project="debuggers", leaderboard="nightly", benchmark="bugs", name="%") == []
    )
    live = queries.run(engine, made.live_run)
    assert live["done"] + live["running"] + live["pending"] == live["episodes_total"] == 60
    assert live["running"] == 3 and len(live["entrants"]) == 3 and live["spec"]["benchmark"] == "bugs"
    json.dumps(live, allow_nan=False)


def test_filtering_and_paging_episodes(seeded: tuple[Engine, Seeded]) -> None:
    engine, made = seeded
    first = made.runs[0]
    everything = queries.episodes(engine, first)
    assert len(everything) == 60
    paged: list[int] = []
    while page := queries.episodes(engine, first, after=paged[-1] if paged else None, limit=7):
        paged += [row["id"] for row in page]
    assert paged == [row["id"] for row in everything]
    newest = queries.episodes(engine, first, newest_first=True, limit=2)
    assert [row["id"] for row in newest] == paged[:-3:-1]
    assert queries.episodes(engine, first, newest_first=True, after=newest[-1]["id"], limit=1)[0]["id"] == paged[-3]

    def ids(**filters: Any) -> list[int]:
        return [row["id"] for row in queries.episodes(engine, first, **filters)]

    by_verdict = {v: ids(verdict=v) for v in ("resolved", "unresolved", "error")}
    assert sorted(one for some in by_verdict.values() for one in some) == paged
    assert ids(verdict=["resolved", "error"]) == sorted(by_verdict["resolved"] + by_verdict["error"])
    unresolved = [row for row in everything if row["verdict"] == "unresolved"]
    point = unresolved[0]["failure_point"]
    assert ids(failure_point=point) == [row["id"] for row in unresolved if row["failure_point"] == point]
    assert ids(stop_reason="solved") == [row["id"] for row in everything if row["stop_reason"] == "solved"]
    assert ids(tool="pdb") == ids(entrant=["qwen3-coder / debug", "llama-3.3-70b / debug"])
    assert len(ids(task="page-cache")) == len(ids(text="age CAC")) == 3
    assert ids(text="did not answer") == by_verdict["error"] and ids(text="%") == []
    assert ids(steps_min=8, steps_max=9) == [row["id"] for row in everything if 8 <= row["steps"] <= 9]
    assert ids(cost_min=0.03) == [row["id"] for row in everything if (row["cost_usd"] or 0) >= 0.03]
    assert "diff" not in everything[0] and everything[0]["run"] == "nightly"
    assert len(queries.episodes(engine, limit=1000)) == 180
    assert len(queries.episodes(engine, made.live_run, status="pending")) == 17
    json.dumps(everything, allow_nan=False)


def test_one_episode_and_its_steps(seeded: tuple[Engine, Seeded]) -> None:
    engine, made = seeded
    found = queries.episode(engine, made.hostile)
    assert found["benchmark"] == "bugs" and found["faults"][0]["lines"] == [14] and "Find out why" in found["statement"]
    steps = queries.steps(engine, made.hostile)
    assert [step["index"] for step in steps] == list(range(found["steps"] + 1))
    assert steps[2]["thought"] == HOSTILE and len(steps[2]["observation"]) > 30_000
    outline = queries.step_outline(engine, made.hostile, first=2, limit=1)[0]
    assert outline["arguments"].startswith('{"code"') and len(outline["thought"]) == len(HOSTILE)
    assert queries.steps(engine, made.hostile, first=99) == []
    around = queries.neighbours(engine, made.hostile)
    assert around["previous"] is None and around["next"]["run_id"] == made.runs[1]
    assert queries.neighbours(engine, around["next"]["id"])["previous"]["id"] == made.hostile
    json.dumps({**found, "steps": steps}, allow_nan=False)


def test_one_step_of_many_megabytes(seeded: tuple[Engine, Seeded]) -> None:
    engine, made = seeded
    step = queries.step(engine, made.hostile, 2, chars=100)
    assert step is not None
    assert len(step["observation"]) == 100 and step["observation_chars"] > 30_000
    assert step["arguments"] is None and len(step["arguments_text"]) == 100 < step["arguments_chars"]
    whole = queries.step(engine, made.hostile, 2)
    assert whole is not None and whole["arguments"] == {"code": HOSTILE} and not whole["asked"]
    assert len(queries.step_text(engine, made.hostile, 2, "observation", chars=25_000)) == 25_000
    assert json.loads(queries.step_text(engine, made.hostile, 2, "arguments", chars=25_000)) == {"code": HOSTILE}
    assert queries.step(engine, made.hostile, 99) is None
    assert queries.step_text(engine, made.hostile, 99, "thought", chars=9) == ""


def test_what_a_trace_shows_of_states(seeded: tuple[Engine, Seeded]) -> None:
    engine, made = seeded
    episode = made.episodes[3]
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
    stood = queries.before(engine, episode, last, "breakpoints")
    assert stood is not None and stood["index"] == paused[-1]["index"] and stood["state"]["locals"]
    assert queries.before(engine, episode, 0, "breakpoints") is None
    assert [row["tool"] for row in queries.actions(engine, episode)] == [row["tool"] for row in outline]
    assert queries.exchanges(engine, episode, 1) == [] == queries.exchanges(engine, episode, 99)
    assert "x = 1" in queries.task_files(engine, episode)["core.py"]
    with pytest.raises(NotFound, match="no episode 99999"):
        queries.task_files(engine, 99999)


def test_failure_points(seeded: tuple[Engine, Seeded]) -> None:
    engine, made = seeded
    rows = queries.failure_points(engine, Scope(run=made.runs[0]))
    assert len(rows) == 3
    for row in rows:
        assert row["unresolved"] == sum(row["failure_points"].values())
        assert row["resolved"] + row["unresolved"] + row["errors"] == 20


def test_tasks_and_benchmarks(seeded: tuple[Engine, Seeded]) -> None:
    engine, _ = seeded
    assert queries.benchmarks(engine)[0]["runs"] == 3
    assert len(queries.tasks(engine, "bugs")) == 20 and queries.tasks(engine, "bugs", valid=True) == []
    assert len(queries.entrants(engine, name="qwen3-coder / debug")) == 1


def without_tallies(engine: Engine) -> None:
    """As while runs go on: a board adds their episodes up."""
    with engine.begin() as connection:
        connection.execute(delete(TALLY))


def test_a_leaderboard_reads_no_episode_rows(seeded: tuple[Engine, Seeded]) -> None:
    engine, made = seeded
    without_tallies(engine)
    seen: list[tuple[str, Any]] = []

    def record(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        seen.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", record)
    queries.leaderboard(engine, Scope(run=made.runs[0]))
    queries.steps(engine, made.hostile)
    event.remove(engine, "before_cursor_execute", record)
    (board,) = [entry for entry in seen if entry[0].endswith("GROUP BY episode.entrant_id, episode.task_id")]
    steps = [entry for entry in seen if "FROM step" in entry[0]]
    with engine.connect() as connection:
        plans = [
            " ".join(row[-1] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", parameters))
            for sql, parameters in (board, *steps)
        ]
    assert "COVERING INDEX ix_episode_totals" in plans[0]
    assert steps and all("SEARCH step" in plan and "TEMP B-TREE" not in plan for plan in plans[1:])


def test_over_many_runs_nothing_is_sorted(seeded: tuple[Engine, Seeded], monkeypatch: pytest.MonkeyPatch) -> None:
    engine, _ = seeded
    few = queries.leaderboard(engine)
    without_tallies(engine)
    monkeypatch.setattr("stackrank.db.queries.boards.scope._FEW_RUNS", 0)
    seen: list[tuple[str, Any]] = []

    def record(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        seen.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", record)
    assert queries.leaderboard(engine) == few
    event.remove(engine, "before_cursor_execute", record)
    ((sql, parameters),) = [
        entry for entry in seen if entry[0].endswith("GROUP BY episode.entrant_id, episode.task_id")
    ]
    with engine.connect() as connection:
        plan = " ".join(row[-1] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", parameters))
    assert "COVERING INDEX ix_episode_cells" in plan and "TEMP B-TREE" not in plan


def test_what_an_agent_resolved(engine: Engine, store: Store, matrix: SimpleNamespace) -> None:
    name = queries.benchmarks(engine)[0]["name"]
    assert queries.resolved_by(engine, name, "nobody") == {}
    ((task, entrant, _), episode), *_ = matrix.episodes.items()
    agent = next(row["agent"] for row in queries.entrants(engine) if row["id"] == entrant)
    finish(store, episode, "resolved")
    (key,) = queries.resolved_by(engine, name, agent)
    assert queries.resolved_by(engine, name, agent) == {key: (1, 1)}
    assert key[0] == next(row["name"] for row in queries.tasks(engine, name) if row["id"] == task)
