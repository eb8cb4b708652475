"""Who plays what: the ways in which two workers could play, or count, one episode."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, event, select, text
from sqlalchemy.exc import DBAPIError

from stackrank.db import queries
from stackrank.db.connection import engine as engine_module
from stackrank.db.connection.engine import connect
from stackrank.db.connection.errors import ClaimLost, is_transient
from stackrank.db.connection.transactions import EPISODE, TALLY
from stackrank.db.models.runs import Step
from stackrank.db.queries.comparisons.stopping import runs_stopped_early
from stackrank.db.totals import counters, tallies
from stackrank.db.writes.acts import Acts
from stackrank.db.writes.store import Store
from stackrank.terms import RunStatus
from tests.postgres import Cluster
from tests.support.episodes import create_episodes, start
from tests.support.waiting import wait_for


def fail(store: Store, episode: int, **options: Any) -> None:
    assert store.fail_episode(episode, stop_reason="error", error="The sandbox went away.", **options)


def test_many_workers_never_get_the_same_episode(store: Store, matrix: SimpleNamespace) -> None:
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda n: store.claim_next(matrix.run, f"w{n}"), range(20)))
    claimed = [row["id"] for row in rows if row]
    assert sorted(claimed) == sorted(matrix.episodes.values())
    assert {row["claimed_by"] for row in store.claims(matrix.run)} == {f"w{n}" for n, row in enumerate(rows) if row}


def test_skipped_episodes_are_not_played(store: Store, matrix: SimpleNamespace) -> None:
    playing = store.claim_next(matrix.run, "w")
    assert playing is not None and playing["entrant_id"] == matrix.one
    cut_off = store.claim_next(matrix.run, "w")
    assert cut_off is not None and cut_off["entrant_id"] == matrix.two
    store.release(cut_off["id"], "w")
    assert store.skip(matrix.run, []) == 0
    assert store.skip(matrix.run, [matrix.one]) == 2  # what is played, or begun, is not thrown away
    assert store.skip(matrix.run, [matrix.one]) == 0
    counts = queries.progress(store.engine, matrix.run)
    assert (counts["running"], counts["pending"], counts["not_played"], counts["done"]) == (1, 3, 2, 0)
    claimed = [row["entrant_id"] for _ in range(4) if (row := store.claim_next(matrix.run, "w"))]
    assert claimed == [matrix.two] * 3
    store.unskip(matrix.run)
    counts = queries.progress(store.engine, matrix.run)
    assert (counts["running"], counts["pending"], counts["not_played"]) == (4, 2, 0)


def test_only_one_worker_takes_an_episode_over(store: Store, matrix: SimpleNamespace) -> None:
    row = store.claim_next(matrix.run, "dead")
    assert row is not None
    (claim,) = store.claims(matrix.run)
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda n: store.take_over(row["id"], f"w{n}", last_claim=claim), range(8)))
    assert [episode["interruptions"] for episode in claims if episode] == [1]


def test_a_living_worker_keeps_its_episode(store: Store, matrix: SimpleNamespace) -> None:
    row = store.claim_next(matrix.run, "alive")
    assert row is not None
    (claim,) = store.claims(matrix.run)
    store.keep_claims([row["id"]], "alive")
    assert store.take_over(row["id"], "other", last_claim=claim) is None
    assert not store.free(row["id"], last_claim=claim)
    (claim,) = store.claims(matrix.run)
    assert store.free(row["id"], last_claim=claim)
    next_episode = store.claim_next(matrix.run, "other")
    assert next_episode is not None and (next_episode["id"], next_episode["interruptions"]) == (row["id"], 1)


def test_writes_of_a_worker_that_lost_its_claim_are_refused(store: Store, matrix: SimpleNamespace) -> None:
    """A worker that was cut off comes back after its episode was taken over, and even finished."""
    row = store.claim_next(matrix.run, "old")
    assert row is not None
    episode = row["id"]
    store.add_step(Step(episode_id=episode, index=0, observation="reset"), by="old")
    (claim,) = store.claims(matrix.run)
    store.take_over(episode, "new", last_claim=claim)
    with pytest.raises(ClaimLost):
        store.add_step(Step(episode_id=episode, index=1, observation="late"), by="old")
    with pytest.raises(ClaimLost):
        store.finish_episode(episode, verdict="unresolved", stop_reason="step_limit", by="old")
    assert not store.fail_episode(episode, stop_reason="error", error="late", by="old")
    store.release(episode, "old")
    store.keep_claims([episode], "old")
    assert [row["claimed_by"] for row in store.claims(matrix.run)] == ["new"]
    store.finish_episode(episode, verdict="resolved", stop_reason="solved", by="new")
    store.finish_episode(episode, verdict="resolved", stop_reason="solved", by="new")  # the answer was lost
    with pytest.raises(ClaimLost):
        store.finish_episode(episode, verdict="resolved", stop_reason="solved", by="old")
    assert [step["index"] for step in queries.steps(store.engine, episode)] == [0]


def test_an_error_after_some_steps_is_continued(store: Store, matrix: SimpleNamespace) -> None:
    row = store.claim_next(matrix.run, "w")
    assert row is not None
    episode = row["id"]
    for index in range(3):
        store.add_step(Step(episode_id=episode, index=index, tokens_in=10, cost_usd=0.5))
    assert store.spent_usd(matrix.run) == 1.5
    fail(store, episode, by="w")
    failed = queries.episode(store.engine, episode)
    assert (failed["verdict"], failed["steps"], failed["tokens_in"], failed["cost_usd"]) == ("error", 2, 30, 1.5)
    assert store.spent_usd(matrix.run) == 1.5
    continued = store.retry_episode(episode, "v")
    assert continued is not None
    assert (continued["id"], continued["try_number"], continued["interruptions"]) == (episode, 1, 1)
    assert store.retry_episode(episode, "v") is None, "it is played already"
    assert store.spent_usd(matrix.run) == 1.5


def test_an_error_without_steps_gets_a_new_try(store: Store, matrix: SimpleNamespace) -> None:
    engine = store.engine
    cell, first = next(iter(matrix.episodes.items()))
    start(store, first)
    fail(store, first)
    new_try = store.retry_episode(first)
    assert new_try is not None
    assert (new_try["try_number"], new_try["attempt"], new_try["interruptions"]) == (2, 1, 0)
    assert store.retry_episode(first) is None, "it does not count any more"
    tries = queries.episodes(engine, matrix.run, task_id=cell[0], entrant="one", counted=None)
    assert [(row["try_number"], row["counted"], row["status"]) for row in tries] == [
        (1, False, "done"),
        (2, True, "pending"),
    ]
    assert queries.run(engine, matrix.run)["retried"] == 1


def test_a_fresh_try_keeps_no_steps(store: Store, matrix: SimpleNamespace) -> None:
    first = next(iter(matrix.episodes.values()))
    start(store, first)
    for index in range(3):
        store.add_step(Step(episode_id=first, index=index))
    fail(store, first)
    new_try = store.retry_episode(first, "w", afresh=True)
    assert new_try is not None and new_try["id"] != first
    assert queries.steps(store.engine, new_try["id"]) == []
    assert [row["id"] for row in store.claims(matrix.run)] == [new_try["id"]]


def test_claims_are_released_and_handed_over(store: Store, matrix: SimpleNamespace) -> None:
    row = store.claim_next(matrix.run, "driver")
    assert row is not None
    assert store.hand_over(row["id"], "driver", "worker")
    assert not store.hand_over(row["id"], "driver", "other")
    store.release(row["id"], "worker")
    assert store.claims(matrix.run) == []
    counts = queries.progress(store.engine, matrix.run)
    assert (counts["running"], counts["pending"]) == (0, len(matrix.episodes))
    continued = store.claim_next(matrix.run, "next")
    assert continued is not None
    assert (continued["id"], continued["interruptions"]) == (row["id"], 1)


def test_only_runs_in_progress_can_be_cancelled(store: Store, matrix: SimpleNamespace) -> None:
    store.start_run(matrix.run)
    assert store.cancel_run(matrix.run, "by ada")
    assert not store.cancel_run(matrix.run, "by bob")
    assert store.reopen_run(queries.run(store.engine, matrix.run)) and store.start_run(matrix.run)
    store.end_run(matrix.run, "finished")
    assert not store.cancel_run(matrix.run, "too late")
    assert queries.run(store.engine, matrix.run)["status"] == "finished"


@pytest.mark.parametrize(("costs", "expected"), [((0.0, 0.25, 0.5), 0.75), ((0.0, 0.25, None), None)])
def test_an_unknown_price_makes_the_cost_of_an_error_unknown(
    store: Store, matrix: SimpleNamespace, costs: tuple[float | None, ...], expected: float | None
) -> None:
    episode = next(iter(matrix.episodes.values()))
    start(store, episode)
    for index, cost in enumerate(costs):
        store.add_step(Step(episode_id=episode, index=index, cost_usd=cost, tokens_in=7))
    fail(store, episode)
    row = queries.episode(store.engine, episode)
    assert (row["cost_usd"], row["tokens_in"], row["steps"]) == (expected, 21, 2)


def test_a_lost_connection_releases_its_locks(postgres: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its machine says nothing any more, not even that it is gone."""
    monkeypatch.setattr(engine_module, "_MOST_IDLE_S", 1)
    engine = connect(postgres.create("migrated"))
    store = Store(engine)
    benchmark = store.save_benchmark(
        name="bugs", digest="b", license="MIT", source="", tasks=[{"name": "t", "digest": "d", "statement": "s"}]
    )
    entrant = store.save_entrant(digest="e", name="one", agent="scripted", model="m1", tools="debug")
    run = store.create_run(name="r", benchmark_id=benchmark.id, spec={"benchmark": "bugs"})
    (episode,) = create_episodes(store, run, [(benchmark.task_ids["t"], entrant, 1)]).values()
    store.claim_next(run, "cut off")
    with pytest.raises(DBAPIError) as error, engine.connect() as silent:
        silent.execute(select(EPISODE).with_for_update())
        (claim,) = store.claims(run)
        assert store.free(episode, last_claim=claim), "it waits for the lock, and gets it"
        silent.execute(select(EPISODE))
    assert is_transient(error.value)
    engine.dispose()


def test_claiming_reads_no_finished_episode(tmp_path: Path) -> None:
    """SQLite takes the index of open episodes, however many episodes a run has."""
    engine = connect(f"sqlite:///{tmp_path / 'stackrank.db'}")
    store, statements = Store(engine), list[tuple[str, Any]]()
    event.listen(engine, "before_cursor_execute", lambda *arguments: statements.append((arguments[2], arguments[3])))
    store.claim_next(1, "w")
    store.claims(1)
    runs_stopped_early(engine, [1, 2])
    questions = [statement for statement in statements if statement[0].startswith(("SELECT", "UPDATE"))]
    assert len(questions) == 3
    with engine.connect() as connection:
        for query, values in questions:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", values).all()
            assert "ix_episode_open" in str(plan), query


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
def test_finishing_episodes_blocks_no_heartbeat_of_their_run(
    engine: Engine, store: Store, matrix: SimpleNamespace
) -> None:
    """A run is heard of meanwhile; who cancels it waits for those who ended one before, and others wait for it."""
    first, second = list(matrix.episodes.values())[:2]
    store.start_run(matrix.run)
    with ThreadPoolExecutor(2) as threads:
        with engine.connect() as busy, busy.begin():
            tallies.forget_tally_of(busy, first)
            assert store.heartbeat(matrix.run) is RunStatus.RUNNING
            Acts(store.engine).tune(matrix.run, {"budget_usd": 2}, person="ada")
            cancelled = threads.submit(store.cancel_run, matrix.run, "enough")
            wait_for(lambda: _waiting(engine) == 1, "the cancel waits for nobody")
            finishing = threads.submit(store.finish_episode, second, verdict="resolved", stop_reason="submitted")
            wait_for(lambda: _waiting(engine) == 2, "the end waits for nobody")
            assert not cancelled.done() and not finishing.done(), "it does not overtake the cancel"
        assert cancelled.result(60)
        finishing.result(60)
    with engine.connect() as connection:
        assert counters.differences(connection) == {}
        assert connection.scalar(select(TALLY.c.run_id)) is None, "the tally lacked the second, and is gone"


def _waiting(engine: Engine) -> int:
    """How many wait for the lock of a tally."""
    with engine.connect() as connection:
        query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        return int(connection.scalar(text(query)) or 0)
