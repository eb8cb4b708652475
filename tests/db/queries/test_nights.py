"""Nights of new tasks as one leaderboard, and the gap to tasks that may be known."""

from __future__ import annotations

import random

import pytest
from sqlalchemy import Engine
from statsmodels.stats.proportion import confint_proportions_2indep

from stackrank.db import queries, stats
from stackrank.db.queries import Scope
from stackrank.db.writes.store import Store
from tests.support.episodes import create_episodes, start

CHANCES = {"llm/large": 0.8, "llm/small": 0.3, "repair": 0.1, "oracle": 1.0}


def play(
    store: Store, name: str, entrants: tuple[str, ...], tasks: int = 20, fixed_rate: float = 0.0, **options: int
) -> None:
    """A finished run of a benchmark of its own; `fixed_rate`: how much likelier a model is to solve a task of it."""
    dice = random.Random(name)
    rows = [{"name": f"{name[-2:]}-{n:02}", "digest": f"{name}{n}"} for n in range(tasks)]
    benchmark = store.save_benchmark(name=name, digest=name, license="", source="", tasks=rows)
    run = store.create_run(name=name, benchmark_id=benchmark.id, spec={}, conditions={"steps": 50, **options})
    store.start_run(run)
    for label in entrants:
        agent = label.partition("/")[0]
        entrant = store.save_entrant(digest=label, name=label, agent=agent, reference=label == "oracle")
        cells = [(task, entrant, 1) for task in benchmark.task_ids.values()]
        for episode in create_episodes(store, run, cells).values():
            start(store, episode)
            chance = CHANCES[label] + (fixed_rate if agent == "llm" else 0.0)
            verdict = "resolved" if dice.random() < chance else "unresolved"
            store.finish_episode(episode, verdict=verdict, stop_reason="submitted")
    store.end_run(run, "finished")


def test_nights_are_one_leaderboard(store: Store, engine: Engine) -> None:
    assert queries.nights(engine)["entrants"] == []
    play(store, "deep", ("llm/large", "llm/small", "repair"), 40, fixed_rate=0.2)
    play(store, "fresh/2026-11-20", ("llm/large",), steps=10)
    play(store, "fresh/2026-11-21", ("llm/large", "repair", "oracle"))
    play(store, "fresh/2026-11-22", ("llm/small", "repair", "oracle"))
    board = queries.nights(engine)
    assert [row["night"] for row in board["nights"]] == ["2026-11-21", "2026-11-22"], "under equal conditions"
    by_name = {row["entrant"]: row for row in board["entrants"]}
    assert list(by_name) == ["llm/large", "llm/small", "repair"], "best first, and nobody competes with the known fix"
    assert all(row["linked"] and row["ci_low"] < row["rate"] < row["ci_high"] for row in board["entrants"])
    large, repair = by_name["llm/large"], by_name["repair"]
    assert (large["nights"], large["tasks"], large["fixed_tasks"]) == (1, 20, 40)
    assert (repair["nights"], repair["tasks"]) == (2, 40)
    assert large["gap"] == pytest.approx(large["observed"] - large["fixed_rate"])  # type: ignore[operator]
    assert large["gap"] is not None and large["gap"] < 0 and large["gap_low"] <= large["gap"] <= large["gap_high"]  # type: ignore[operator]
    assert repair["gap_low"] <= 0 <= repair["gap_high"], "who learned nothing has no gap"  # type: ignore[operator]
    assert len(queries.nights(engine, Scope(conditions="no such"))["entrants"]) == 0


def test_without_fixed_tasks_there_is_no_gap(store: Store, engine: Engine) -> None:
    play(store, "fresh/1", ("repair",))
    (row,) = queries.nights(engine)["entrants"]
    assert row["gap"] is None and row["fixed_rate"] is None and row["rate"] == pytest.approx(row["observed"], abs=0.1)


@pytest.mark.parametrize(("first", "second"), [((0, 20), (0, 10)), ((15, 40), (3, 20)), ((40, 40), (7, 9))])
def test_the_gap_has_newcombes_interval(first: tuple[int, int], second: tuple[int, int]) -> None:
    rates = [stats.rate([1] * hits + [0] * (n - hits), [1] * n) for hits, n in (first, second)]
    gap = stats.gap(*rates)
    low, high = confint_proportions_2indep(*second, *first, method="newcomb", compare="diff")
    assert (gap.low, gap.high) == pytest.approx((low, high))


def test_nights_that_differ_widen_the_interval() -> None:
    resolved = [1] * 30 + [0] * 30
    clusters = [str(number // 10) for number in range(60)]
    simple, wide = stats.rate(resolved, [1] * 60), stats.rate_over_clusters(resolved, [1] * 60, clusters)
    assert wide.rate == simple.rate and wide.low < simple.low and wide.high > simple.high  # type: ignore[operator]
    mixed = stats.rate_over_clusters([1, 0] * 30, [1] * 60, clusters)
    assert mixed == simple, "and nights that are alike do not narrow it"
