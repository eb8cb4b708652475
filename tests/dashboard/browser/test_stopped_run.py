"""Pages of a run that stopped early because its comparison was decided."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.flows.runs.afterwards.html_report import render
from tests.dashboard.page_parts import texts

TASKS, PLAYED = 20, 10


def stopped(url: str) -> int:
    store = Store(connect(url))
    rows = [{"name": f"t{n:02}", "digest": f"d{n}", "statement": "It fails."} for n in range(TASKS)]
    benchmark = store.save_benchmark(name="bugs", digest="b", license="MIT", source="", tasks=rows)
    first, two = (store.save_entrant(digest=name, name=name, agent="scripted") for name in ("one", "two"))
    cells = [(task, entrant, 1) for task in benchmark.task_ids.values() for entrant in (first, two)]
    spec = {"benchmark": "bugs", "stop": {"decided": 0.05}}
    run_id = store.create_run(name="r", benchmark_id=benchmark.id, spec=spec, cells=cells)
    store.start_run(run_id)
    for _ in range(2 * PLAYED):
        claim = store.claim_next(run_id, "w")
        assert claim is not None
        verdict = "resolved" if claim["entrant_id"] == first else "unresolved"
        store.finish_episode(claim["id"], verdict=verdict, stop_reason="submitted", cost_usd=0.5, by="w")
    store.skip(run_id, queries.decided_entrants(store.engine, run_id, spec["stop"]))  # type: ignore[arg-type]
    store.end_run(run_id, "finished")
    return run_id


def test_run_page_shows_the_decision_and_savings(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'stopped.db'}"
    run_id = stopped(url)
    app = visit(url, "run", id=str(run_id))
    decisions = queries.stopping(connect(url), run_id)
    assert decisions is not None and decisions["not_played"] == 2 * (TASKS - PLAYED) and decisions["saved_usd"] == 10.0
    (label,) = [part.label for part in app.get("expander") if "decided" in part.label]
    assert decisions["sentence"] in label.replace("\\", "")
    assert "\\$10" in label  # no formula
    assert decisions["pairs"][0]["sentence"] in texts(app) and "two is behind one" in texts(app)
    assert not app.get("progress")  # what was not needed is not missing


def test_report_shows_the_decision(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'stopped.db'}"
    run_id = stopped(url)
    text, _ = render(connect(url), run_id)
    assert "20 of 20 episodes" in text and "two is behind one" in text and "about $10.00 were not needed" in text


def test_boards_mention_the_stopped_run(visit: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'stopped.db'}"
    run_id = stopped(url)
    assert f"run {run_id} stopped early" in texts(visit(url, "leaderboard"))
