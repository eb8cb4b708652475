"""The informative order: which tasks come early, and that weights make up for it."""

from __future__ import annotations

import random

import numpy
import pytest

from stackrank.db.stats.informative import LEAST_RATE, MOST_RATE, deal_tasks, predict_telling, weigh_tasks

TELLING = {f"t{n:03}": 0.01 + 0.49 * (n / 99) ** 2 for n in range(100)}


def test_telling_tasks_come_early_but_no_stratum_is_left_out() -> None:
    order = deal_tasks(TELLING, 1)
    assert sorted(order) == sorted(TELLING) and order != deal_tasks(TELLING, 2) and order == deal_tasks(TELLING, 1)
    first = [int(task[1:]) for task in order[:30]]
    assert sum(number >= 80 for number in first) > 12 and any(number < 40 for number in first)


def test_weighted_means_estimate_the_mean_over_all_tasks() -> None:
    """Whatever the results are, also if they go with what was predicted."""
    results = {task: number for number, task in enumerate(TELLING)}
    estimates = []
    for seed in range(400):
        order = deal_tasks(TELLING, seed)
        dealt = weigh_tasks(order, TELLING)
        sample = [task.weight * results[name] for name, task in zip(order, dealt, strict=True) if task.weight]
        assert len(sample) < 60
        estimates.append(float(numpy.mean(sample)))
    assert numpy.mean(estimates) == pytest.approx(49.5, abs=4 * numpy.std(estimates) / 20 + 1.0)


def test_what_tasks_count_for() -> None:
    order = deal_tasks(TELLING, 3)
    dealt = weigh_tasks(order, TELLING)
    weights = [task.weight for task in dealt if task.weight]
    assert numpy.mean(weights) == pytest.approx(1) and max(weights) / min(weights) == pytest.approx(
        MOST_RATE / LEAST_RATE
    )
    clock = [task.clock for task in dealt]
    assert clock == sorted(clock) and clock[-1] == pytest.approx(1) and clock[30] > 0.5


@pytest.mark.parametrize("tasks", [0, 1, 2, 7])
def test_tasks_that_tell_the_same_come_in_a_random_order_and_count_the_same(tasks: int) -> None:
    telling = {f"t{n}": 0.5 for n in range(tasks)}
    order = deal_tasks(telling, 4)
    assert sorted(order) == sorted(telling)
    assert [task.weight for task in weigh_tasks(order, telling)] == [1.0] * tasks
    few = {f"t{n}": 1.0 + n for n in range(tasks)}
    assert sorted(deal_tasks(few, 4)) == sorted(few) and len(weigh_tasks(deal_tasks(few, 4), few)) == tasks


def test_predictions_follow_earlier_results() -> None:
    dice = random.Random(5)
    wins = [3] * 10 + [0] * 10 + [dice.choice([1, 2]) for _ in range(10)] + [0]
    counted = [[3] * 30 + [0]] * 3
    telling = predict_telling([wins] * 3, counted)
    assert max(telling[:20]) < min(telling[20:30]) and len(set(telling[:10])) == 1
    assert telling[0] < telling[30] < telling[25], "a task that nobody has played is like any task"
    assert predict_telling([[0, 0]], [[0, 0]]) == [0.5, 0.5]
