"""The tally of a run is what its episodes sum up to, whatever became of them; and a run that goes on has none."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest
from sqlalchemy import Engine, delete, select

from stackrank.db import queries
from stackrank.db.connection.transactions import EPISODE, TALLY
from stackrank.db.maintenance.prune import Pruning
from stackrank.db.models.runs import Step
from stackrank.db.queries import Scope
from stackrank.db.totals import counters, tallies
from stackrank.db.totals.sums import Sums, total
from stackrank.db.writes.store import Store
from stackrank.terms import ErrorClass, ErrorsAre, RunStatus
from tests.support.session import sample

pytestmark = pytest.mark.slow  # by its time


def kept(engine: Engine) -> dict[int, bytes]:
    with engine.connect() as connection:
        return dict(connection.execute(select(TALLY.c.run_id, TALLY.c.content)).tuples().all())


def directly(engine: Engine, runs: list[int]) -> dict[tuple[int, int], Sums]:
    """Added up in Python, row by row."""
    sums_of: dict[tuple[int, int], Sums] = {}
    with engine.connect() as connection:
        rows = connection.execute(select(EPISODE).where(EPISODE.c.run_id.in_(runs))).mappings().all()
    for row in rows:
        if row["verdict"] == "" and row["counted"]:
            continue
        scored = row["counted"] and row["verdict"] in ("resolved", "unresolved")
        resolved, failed = scored and row["verdict"] == "resolved", row["counted"] and row["verdict"] == "error"
        is_used = scored or row["tokens_in"] + row["tokens_out"] > 0 or row["verdict"] in ("resolved", "unresolved")
        classes = [int(failed and row["error_class"] == name) for name in ErrorClass]
        sums = Sums(
            int(resolved), int(resolved and row["sealed"] > 0), int(row["unverified"]),
            int(scored and not resolved), int(failed),
            *(row[name] if scored else 0 for name in ("steps", "tokens_in", "tokens_out")),
            (row["cost_usd"] or 0.0) if scored else 0.0, int(scored and row["cost_usd"] is not None),
            row["wall_s"] if scored else 0.0, row["cost_usd"] or 0.0, int(row["cost_usd"] is None and is_used),
            row["mended"] / row["faults_total"] if scored and not resolved else 0.0,
            *(row[name] if scored else 0 for name in ("mended", "faults_total")),
            *classes,
        )  # fmt: skip
        key = (row["entrant_id"], row["task_id"])
        sums_of[key] = total([sums_of.get(key, Sums()), sums])
    return sums_of


def agree(engine: Engine, runs: list[int]) -> None:
    """Every run that is over has a tally or is added up; both are what the rows say, and so are the counters."""
    with engine.connect() as connection:
        assert counters.differences(connection) == {}
    scope = Scope(run=runs)
    expected = directly(engine, runs)
    sums_of = {(entrant, task): sums for entrant, task, sums in scope.find(engine).sums()}
    assert sums_of.keys() == expected.keys()
    for key, sums in expected.items():
        assert sums_of[key] == pytest.approx(sums), key


@pytest.mark.parametrize("seed", sample(range(6), [0, 4]))
def test_tallies_agree_with_episodes_after_every_change(
    engine: Engine, store: Store, matrix: SimpleNamespace, seed: int
) -> None:
    dice = random.Random(seed)
    second_run = store.create_run(name="r2", benchmark_id=matrix.benchmark.id, spec={}, cells=matrix.cells)
    runs = [matrix.run, second_run]
    verdicts_seen = set[str]()
    for _ in range(60):
        run = dice.choice(runs)
        status = queries.run(engine, run)["status"]
        episodes = queries.episodes(engine, run=run)
        open_ones = [row["id"] for row in episodes if row["verdict"] == ""]
        errors = [row["id"] for row in episodes if row["verdict"] == "error"]
        deeds = ["start", "end", "cancel"] if status == "running" else ["start", "start"]
        deeds += ["play"] * 4 * bool(open_ones) + ["fail"] * bool(open_ones) + ["again", "afresh"] * bool(errors)
        deed = dice.choice(deeds)
        verdicts_seen.add(deed)
        if deed == "start":
            store.reopen_run(queries.run(engine, run))
            assert store.start_run(run)
        elif deed == "end":
            store.end_run(run, dice.choice(["finished", "failed"]))
        elif deed == "cancel":
            store.cancel_run(run, "enough")
        elif deed == "play":
            usage = {name: dice.randrange(9) for name in ("steps", "tokens_in", "tokens_out", "sealed")}
            verdict, cost = dice.choice(["resolved", "unresolved"]), dice.choice([None, 0.25, dice.random()])
            store.finish_episode(
                dice.choice(open_ones), verdict=verdict, stop_reason="submitted", cost_usd=cost, wall_s=dice.random(),
                **usage,
            )  # fmt: skip
        elif deed == "fail":
            episode = dice.choice(open_ones)
            if dice.random() < 0.7 and not queries.steps(engine, episode):
                for index in range(dice.randrange(4)):
                    cost = dice.choice([None, 0.5])
                    store.add_step(Step(episode_id=episode, index=index, tool="view", tokens_in=index, cost_usd=cost))
            store.fail_episode(episode, stop_reason="error", error="gone", error_class=dice.choice(list(ErrorClass)))
        else:
            store.retry_episode(dice.choice(errors), dice.choice(["", "w"]), afresh=deed == "afresh")
        agree(engine, runs)
        agree(engine, [run])
        for sums in kept(engine):
            assert RunStatus(queries.run(engine, sums)["status"]).ended
    assert {"start", "end", "play", "fail"} <= verdicts_seen
    for run in runs:
        store.reopen_run(queries.run(engine, run))
        assert store.start_run(run)
        assert run not in kept(engine)
        store.end_run(run, "finished")
    assert set(kept(engine)) == set(runs)
    agree(engine, runs)
    board_before = queries.leaderboard(engine, Scope(run=runs, errors=ErrorsAre.AS_FAILURES))
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        connection.execute(delete(TALLY))
    assert queries.leaderboard(engine, Scope(run=runs, errors=ErrorsAre.AS_FAILURES)) == [
        {name: pytest.approx(value) if isinstance(value, float) else value for name, value in row.items()}
        for row in board_before
    ]
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        tallies.keep(connection, runs[0])
    Pruning(engine).delete_run(runs[0])
    assert not kept(engine)
    agree(engine, runs[1:])


def test_a_run_without_an_episode_has_an_empty_tally(engine: Engine, store: Store, matrix: SimpleNamespace) -> None:
    run = store.create_run(name="empty", benchmark_id=matrix.benchmark.id, spec={})
    store.end_run(run, "cancelled")
    assert kept(engine) == {run: b""} and Scope(run=run).find(engine).sums() == []
