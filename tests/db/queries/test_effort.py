"""What entrants need to resolve a task: the statistics against a count of all exchanges, and what is asked."""

from __future__ import annotations

import itertools
import math
import random
from statistics import fmean

import pytest
from sqlalchemy import Engine

from stackrank.db import queries, stats
from stackrank.db.queries import Scope
from stackrank.db.writes.store import Store
from stackrank.terms import ErrorsAre
from tests.support.episodes import create_episodes, start


def exact(gaps: list[float]) -> float:
    """The share of all exchanges of sides whose mean is as far from 0 as the observed one, twice the smaller tail."""
    total = abs(sum(gaps))
    sums = [sum(sign * gap for sign, gap in zip(signs, gaps, strict=True)) for signs in _signs(len(gaps))]
    return min(1.0, 2 * sum(flipped_sum >= total - 1e-9 for flipped_sum in sums) / len(sums))


def _signs(count: int) -> list[tuple[int, ...]]:
    return list(itertools.product((1, -1), repeat=count))


@pytest.mark.parametrize("seed", range(20))
def test_the_interval_inverts_the_sign_flip_test(seed: int) -> None:
    dice = random.Random(seed)
    tasks, shift = dice.randint(6, 10), dice.choice((0, 4, 12))
    first = [float(dice.randint(5, 40)) for _ in range(tasks)]
    second = [max(1.0, need - shift + dice.randint(-5, 5)) if dice.random() < 0.9 else 50.0 for need in first]
    comparison = stats.effort(first, second, 50)
    gaps = [a - b for a, b in zip(first, second, strict=True)]
    assert comparison.saved == pytest.approx(fmean(gaps)) and comparison.tasks == tasks
    assert comparison.p_value == pytest.approx(exact(gaps), abs=0.5 ** (tasks - 1) + 1e-9)
    assert (
        comparison.low is not None and comparison.high is not None and comparison.low <= fmean(gaps) <= comparison.high
    )
    assert (comparison.p_value is not None and comparison.p_value < 0.05) == (
        not comparison.low <= 0 <= comparison.high
    )


def test_no_shared_task_gives_none_and_equal_results_keep_an_interval() -> None:
    assert stats.effort([], [], 50) == stats.EffortDifference(0, None, None, None, None, None, None)
    equal = stats.effort([7.0] * 30, [7.0] * 30, 50)
    assert equal.saved == 0 and equal.p_value == 1
    assert equal.low is not None and equal.high is not None and equal.low < 0 < equal.high
    lonely = stats.effort([7.0], [9.0], 50)
    assert (lonely.low, lonely.high) == (-50, 50)


def test_an_unknown_budget_is_the_largest_amount_needed() -> None:
    assert stats.effort([0.0], [0.0], 0).p_value == 1
    assert math.isclose(stats.effort([10.0] * 8, [2.0] * 8, 10).saved or 0, 8)


def played(store: Store, *, limit: int | None = 50) -> tuple[Scope, list[int]]:
    """Two entrants that resolve all but one of ten tasks, the second in six steps less; each with an error."""
    tasks = [{"name": f"task-{n:02}", "digest": f"d{n}"} for n in range(10)]
    benchmark = store.save_benchmark(name="bugs", digest="b", license="", source="", tasks=tasks)
    run = store.create_run(name="effort", benchmark_id=benchmark.id, spec={}, conditions={"steps": limit})
    store.start_run(run)
    ids = []
    for name, steps in (("one", 16), ("other", 10)):
        entrant = store.save_entrant(
            digest=name, name=name, agent="llm", agent_version="1", model=name, tools="debug", tool_list=["pdb"]
        )
        ids.append(entrant)
        cells = [(task, entrant, 1) for task in benchmark.task_ids.values()]
        for number, episode in enumerate(create_episodes(store, run, cells).values()):
            start(store, episode)
            verdict = {0: "unresolved", 1: "error"}.get(number, "resolved")
            totals = {"steps": steps + number % 3, "tokens_in": 100 * steps, "tokens_out": 0}
            totals |= {"cost_usd": None if (name, number) == ("other", 4) else 0.25}
            error_column = {"error": "it broke"} if verdict == "error" else {}
            store.finish_episode(episode, verdict=verdict, stop_reason="submitted", **totals, **error_column)
    store.end_run(run, "finished")
    return Scope(run=run), ids


def test_attempts_form_one_task_and_unshared_tasks_are_left_out(store: Store, engine: Engine) -> None:
    tasks = [{"name": name, "digest": name} for name in "abc"]
    benchmark = store.save_benchmark(name="bugs", digest="b", license="", source="", tasks=tasks)
    run = store.create_run(name="attempts", benchmark_id=benchmark.id, spec={}, conditions={"steps": 30})
    store.start_run(run)
    needs: dict[str, dict[str, list[int | None]]] = {
        "one": {"a": [10, 20, None], "b": [5]},
        "other": {"a": [10], "b": [None], "c": [3]},
    }
    ids = []
    for name, steps_of in needs.items():
        ids.append(store.save_entrant(digest=name, name=name, agent="a", model=name, tools="debug", tool_list=["pdb"]))
        for task, attempts in steps_of.items():
            cells = [(benchmark.task_ids[task], ids[-1], number) for number, _ in enumerate(attempts, start=1)]
            for episode, steps in zip(create_episodes(store, run, cells).values(), attempts, strict=True):
                start(store, episode)
                verdict = "resolved" if steps else "unresolved"
                store.finish_episode(episode, verdict=verdict, stop_reason="submitted", steps=steps or 7)
    store.end_run(run, "finished")
    (comparison,) = queries.effort(engine, [(ids[0], ids[1])], Scope(run=run))
    assert (comparison["tasks"], comparison["first"], comparison["second"]) == (2, fmean([20, 5]), fmean([10, 30]))
    assert comparison["saved"] == pytest.approx(-7.5)


def test_equally_good_entrants_differ_in_steps(store: Store, engine: Engine) -> None:
    scope, (first, second) = played(store)
    (comparison,) = queries.effort(engine, [(first, second)], scope)
    assert (comparison["tasks"], comparison["budget"], comparison["by"]) == (9, 50, "steps")
    assert comparison["saved"] == pytest.approx(8 * 6 / 9), "on the task that neither resolves nothing is saved"
    assert comparison["low"] is not None and comparison["low"] > 0 and comparison["p_value"] == pytest.approx(2 / 2**8)
    sentence = queries.effort_sentence("one", "other", comparison)
    assert sentence.startswith("other needs 5.3 fewer steps than one to resolve a task (+"), sentence
    assert sentence.endswith(
        "p = 0.008: 15.3 for other, 20.7 for one; an episode that does not resolve its task counts as 50."
    )
    (reversed_comparison,) = queries.effort(engine, [(second, first)], scope)
    reversed_sentence = queries.effort_sentence("other", "one", reversed_comparison)
    interval = sentence[sentence.index("(") : sentence.index(")") + 1]
    assert f"one needs 5.3 more steps than other to resolve a task {interval}" in reversed_sentence, (
        "of what it needs more"
    )


def test_errors_counted_as_failures_take_the_whole_budget(store: Store, engine: Engine) -> None:
    scope, (first, second) = played(store)
    failed = Scope(run=scope.run, errors=ErrorsAre.AS_FAILURES)
    (comparison,) = queries.effort(engine, [(first, second)], failed)
    assert comparison["tasks"] == 10 and comparison["saved"] == pytest.approx(8 * 6 / 10)


def test_the_token_budget_is_the_longest_episode(store: Store, engine: Engine) -> None:
    scope, (first, second) = played(store)
    (comparison,) = queries.effort(engine, [(first, second)], scope, by="tokens")
    assert comparison["budget"] == 1600 and comparison["saved"] == pytest.approx(8 * 600 / 9)
    assert "533 fewer tokens" in queries.effort_sentence("one", "other", comparison)


def test_an_unknown_price_prevents_a_cost_comparison(store: Store, engine: Engine) -> None:
    scope, (first, second) = played(store)
    (comparison,) = queries.effort(engine, [(first, second)], scope, by="cost_usd")
    assert (comparison["tasks"], comparison["saved"], queries.effort_sentence("one", "other", comparison)) == (
        0,
        None,
        "",
    )
    (alone,) = queries.effort(engine, [(first, first)], scope, by="cost_usd")
    assert "No clear difference in cost" in queries.effort_sentence("one", "one", alone)


def test_without_a_step_limit_the_longest_episode_is_the_budget(store: Store, engine: Engine) -> None:
    scope, (first, second) = played(store, limit=None)
    (comparison,) = queries.effort(engine, [(first, second)], scope)
    assert comparison["budget"] == 18
