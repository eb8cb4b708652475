"""Releases with many faults at once: they hide what they must, and every fault counts."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.queries import Scope
from stackrank.env.patches import apply_patch
from stackrank.extensions.marathon import benchmark
from stackrank.extensions.marathon.benchmark import RELEASES, Marathon
from tests.fixtures.playing import play_run


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One release of two faults instead of large ones."""
    monkeypatch.setattr(benchmark, "RELEASES", {2: 1})
    benchmark._releases.cache_clear()
    yield
    benchmark._releases.cache_clear()


def test_a_release_shows_the_reports_and_hides_the_rest() -> None:
    tasks = Marathon().tasks()
    assert {len(task.parts) for task in tasks} == {*RELEASES} and len({task.digest for task in tasks}) == len(tasks)
    release = tasks[0]
    fixed = apply_patch(release.files, release.fix)
    for part in release.parts:
        assert all(" ".join(line.split()) in release.statement for line in part.task.statement.splitlines())
        assert not {f"{part.folder}/{path}" for path in part.task.hidden_files} & {*release.files}
        alone = apply_patch(part.task.files, part.task.fix)
        assert {path: fixed[f"{part.folder}/{path}"] for path in alone} == alone
        assert not any(release.may_edit(f"{part.folder}/{path}") for path in alone if not part.task.may_edit(path))
        modules = [path.split("/")[0].partition(".")[0] for path in part.task.files]
        for other in release.parts:
            assert other is part or not ({*modules} - {"tests"}) & {
                path.split("/")[0].partition(".")[0] for path in other.task.files
            }
    assert not any(name in release.files for name in ("task.toml", "fix.patch"))


def test_every_release_was_validated_in_its_present_form() -> None:
    recorded = json.loads(benchmark.RECORD.read_text(encoding="utf-8"))
    assert recorded == {task.id: task.digest for task in Marathon().tasks()}, "stackrank validate marathon --record"


@pytest.mark.slow
@pytest.mark.usefixtures("small", "database")
def test_every_fault_is_stored_and_counts_on_the_board() -> None:
    run = play_run(
        benchmark="marathon", entrants=[{"agent": "oracle", "tools": "debug"}, {"agent": "random", "tools": "debug"}]
    )
    engine = connect()
    rows = {row["entrant"]: row for row in queries.leaderboard(engine, Scope(run=run))}
    oracle = next(row for name, row in rows.items() if name.startswith("oracle"))
    assert (oracle["rate"], oracle["faults_mended"], oracle["faults"]) == (1.0, 2, 2)
    episode = queries.episode(engine, queries.episodes(engine, run, entrant=oracle["entrant"])[0]["id"])
    assert (episode["mended"], episode["faults_total"]) == (2, 2) and episode["sealed"] > 0
    assert sorted(fault["step"] for fault in episode["by_fault"]) == [1, 2]
    assert all(fault["mended"] and fault["sealed"] for fault in episode["by_fault"])
    curve = next(row for row in queries.budget_curves(engine, Scope(run=run)) if row["entrant"] == oracle["entrant"])
    assert curve["curve"][:2] == [[1, 0.5], [2, 1.0]]
    conditions = queries.run(engine, run)["conditions"]
    assert conditions["steps"] == conditions["tokens"] == "of each task"
