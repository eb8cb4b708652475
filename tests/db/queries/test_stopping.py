"""What a run knows, what planning reads, and the gate: the same answers from SQLite and PostgreSQL."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from types import SimpleNamespace

import numpy
import pytest
from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.queries.comparisons.history import episode_means, observed_spread
from stackrank.db.stats.sequential import _limits, decide, sequence_interval
from stackrank.db.writes.store import Store
from stackrank.terms import Decision

TASKS = 24


@pytest.fixture
def stopped(store: Store) -> SimpleNamespace:
    """A run of two attempts of which ten tasks were played: `one` resolves everything, `two` nothing."""
    rows = [{"name": f"t{n:02}", "digest": f"d{n}", "statement": "It fails."} for n in range(TASKS)]
    benchmark = store.save_benchmark(name="bugs", digest="b", license="MIT", source="", tasks=rows)
    names = ("one", "two", "key")
    ids = {name: store.save_entrant(digest=name, name=name, agent="s", reference=name == "key") for name in names}
    cells = list(product(benchmark.task_ids.values(), ids.values(), (1, 2)))
    stop = {"decided": 0.05, "equal_within": None, "against": ""}
    run = store.create_run(name="r", benchmark_id=benchmark.id, spec={"benchmark": "bugs", "stop": stop}, cells=cells)
    store.start_run(run)
    while not (finished := queries.decided_entrants(store.engine, run, stop)):
        claim = store.claim_next(run, "w")
        assert claim is not None
        verdict = "unresolved" if claim["entrant_id"] == ids["two"] else "resolved"
        store.finish_episode(claim["id"], verdict=verdict, stop_reason="submitted", cost_usd=0.5, wall_s=3.0, by="w")
    return SimpleNamespace(run=run, ids=ids, finished=finished, skipped=store.skip(run, finished))


def test_stopping_depends_only_on_stored_episodes(engine: Engine, store: Store, stopped: SimpleNamespace) -> None:
    assert stopped.finished == set(stopped.ids.values())
    state = queries.stopping(engine, stopped.run)
    assert state is not None and state["open"] == 0 and state["not_played"] == stopped.skipped > 0
    (pair,) = state["pairs"]
    assert (pair["first"], pair["second"], pair["decision"]) == ("one", "two", "behind")
    assert state["saved_usd"] == pytest.approx(0.5 * stopped.skipped)
    assert state["saved_s"] == pytest.approx(3.0 * stopped.skipped)
    store.end_run(stopped.run, "finished")
    assert queries.describe_scope(engine)["stopped"] == [stopped.run]
    assert queries.run(engine, stopped.run)["pending"] == 0


def test_planning_reads_earlier_episodes(engine: Engine, store: Store, stopped: SimpleNamespace) -> None:
    store.end_run(stopped.run, "finished")
    means = {row["called"]: row for row in episode_means(engine, "bugs")}
    assert {name: (row["cost_usd"], row["wall_s"]) for name, row in means.items()} == dict.fromkeys(
        ("one", "two", "key"), (0.5, 3.0)
    )
    assert observed_spread(engine, "bugs", {"one", "two"}) is None  # too few tasks to say anything
    assert observed_spread(engine, "other", {"one", "two"}) is None


def test_the_gate_reads_both_databases(engine: Engine, store: Store, stopped: SimpleNamespace) -> None:
    store.end_run(stopped.run, "finished")
    judged = queries.gate(engine, "one", "two", 0.1)
    assert judged["outcome"] == "worse" and judged["difference"] == -1.0 and len(judged["lost"]) == judged["tasks"]


def test_a_run_without_stop_has_no_stopping_state(engine: Engine, matrix: SimpleNamespace) -> None:
    assert queries.stopping(engine, matrix.run) is None


def chance_of_leaving(steps: Sequence[int], limits: Sequence[float]) -> float:
    """How many of all walks of these steps leave the limits, one by one."""
    walks_out = 0
    for signs in product((-1, 1), repeat=len(steps)):
        sums = numpy.cumsum(numpy.array(signs) * steps)
        walks_out += bool((numpy.abs(sums) > limits).any())
    return walks_out / 2 ** len(steps)


def evenly(looks: int, horizon: int) -> tuple[float, ...]:
    return tuple((look + 1) / horizon for look in range(looks))


@pytest.mark.parametrize(
    "steps", [(1,) * 12, (3, 1, 0, 2, 2, 3, 1, 3, 3, 2, 3), (60, 40, 20, 60, 60, 30, 60, 60, 60, 60)]
)
def test_fair_walks_cross_limits_no_more_often_than_their_level(steps: tuple[int, ...]) -> None:
    """Over all outcomes, and never before the part of the error is spent that the time allows."""
    levels = (0.5, 0.2, 0.05, 0.01)
    limits = _limits(steps, levels, evenly(len(steps), len(steps)))
    for place, level in enumerate(levels):
        assert 0 < chance_of_leaving(steps, limits[:, place]) <= level or level < 2 / 2 ** len(steps)
        half = len(steps) // 2
        spent = level * math.log1p((math.e - 1) * half / len(steps))
        assert chance_of_leaving(steps[:half], limits[:half, place]) <= spent
    assert (numpy.diff(limits, axis=1) >= 0).all(), "who is out at a level is out at all larger ones"


def test_limits_do_not_depend_on_what_comes_later() -> None:
    """Otherwise a decision could be taken back."""
    dice = numpy.random.default_rng(3)
    steps = tuple(dice.integers(0, 4, 80).tolist())
    levels = (0.2, 0.05, 0.001)
    limits = _limits(steps, levels, evenly(len(steps), 100))
    for steps_so_far in (10, 37, 60):
        part = _limits(steps[:steps_so_far], levels, evenly(steps_so_far, 100))
        signs = dice.choice([-1, 1], (2000, steps_so_far))
        sums = numpy.abs((signs * steps[:steps_so_far]).cumsum(axis=1))[:, :, None]
        assert ((sums > part) == (sums > limits[:steps_so_far])).all()


def test_decisions_and_intervals_agree() -> None:
    dice = numpy.random.default_rng(4)
    for _ in range(60):
        gaps = (dice.integers(-3, 4, 40) / 3 + dice.choice([-1 / 3, 0, 0, 1 / 3])).clip(-1, 1).tolist()
        (state,) = decide([gaps], 0.05, horizon=40)
        low, high = sequence_interval(gaps, 0.05, horizon=40)
        assert low <= sum(gaps) / 40 <= high
        assert state.decided == (low > 0 or high < 0) == (state.p_value <= 0.05)
        (mirrored,) = decide([[-gap for gap in gaps]], 0.05, horizon=40)
        assert mirrored.p_value == state.p_value
        assert sequence_interval([-gap for gap in gaps], 0.05, horizon=40) == pytest.approx((-high, -low))
    assert sequence_interval([], 0.05, horizon=9) == (-1.0, 1.0)
    assert not decide([[]], 0.05, horizon=9, equal_within=0.1)[0].decided


def test_decisions_are_final() -> None:
    ahead = [1.0] * 20
    (state,) = decide([ahead], 0.05, horizon=40)
    (later,) = decide([ahead + [-1.0] * 20], 0.05, horizon=40)
    assert state.decision is later.decision is Decision.AHEAD and later.p_value <= state.p_value


def test_identical_results_need_enough_tasks_for_equality() -> None:
    low, high = sequence_interval([0.0] * 30, 0.05, horizon=100)
    assert -0.2 < low < -0.1 and 0.1 < high < 0.2
    after_few, many = (decide([[0.0] * n], 0.05, horizon=200, equal_within=0.1)[0] for n in (20, 60))
    assert not after_few.decided and many.decision is Decision.EQUAL


def test_more_pairs_need_more_evidence() -> None:
    gaps = [1.0] * 8
    (alone,) = decide([gaps], 0.05, horizon=20)
    among = decide([gaps, *[[0.0] * 8] * 5], 0.05, horizon=20)
    assert alone.decided and not any(state.decided for state in among)
