"""Coverage of the intervals of a rate, of pass@k and of a cost."""

from __future__ import annotations

import numpy

from stackrank.db import stats
from tests.bench.statistics import Line, share

BOARDS = [(150, 1, 0.5), (150, 1, 0.95), (100, 3, 0.4), (40, 5, 0.7)]
"""Tasks, attempts and the true rate."""


def table(simulations: int) -> list[Line]:
    """Coverage of the nominal 95% intervals, tasks being clusters of unequal difficulty."""
    lines = [_rate(simulations, *board) for board in BOARDS]
    return [*lines, _unequal(simulations), *_reliability(simulations), _cost(simulations)]


def _holds(interval: stats.Rate, truth: float) -> bool:
    return interval.low is not None and interval.high is not None and interval.low <= truth <= interval.high


def _rate(simulations: int, tasks: int, attempts: int, truth: float) -> Line:
    dice = numpy.random.default_rng(11)
    chances = dice.beta(2 * truth, 2 * (1 - truth), (simulations, tasks))
    intervals = [stats.rate(row, [attempts] * tasks) for row in dice.binomial(attempts, chances).tolist()]
    held = sum(_holds(interval, truth) for interval in intervals)
    return share(f"rate {truth:.0%}, {tasks} tasks x {attempts}", held, simulations, at_least=0.93)


def _unequal(simulations: int) -> Line:
    """The hard half of the tasks is played five times, the easy half once."""
    dice, counted = numpy.random.default_rng(12), [1] * 40 + [5] * 40
    held = 0
    for _ in range(simulations):
        chances = numpy.concatenate([dice.beta(8, 2, 40), dice.beta(2, 8, 40)])
        held += _holds(stats.rate(dice.binomial(counted, chances).tolist(), counted), 0.5)
    return share("rate 50%, the hard half played five times", held, simulations, at_least=0.93)


def _reliability(simulations: int) -> list[Line]:
    dice, tasks, attempts, k = numpy.random.default_rng(15), 50, 5, 3
    resolved = dice.binomial(attempts, dice.beta(1, 1, (simulations, tasks))).tolist()
    reliabilities = [stats.reliability(row, [attempts] * tasks, k) for row in resolved]
    # Of a uniform chance: E[1 - (1-p)^3] = 3/4 and E[p^3] = 1/4.
    any_share, every = (sum(_holds(interval, truth) for interval in ones) for ones, truth in (
        ([row.pass_at_k for row in reliabilities], 0.75), ([row.all_k for row in reliabilities], 0.25)
    ))  # fmt: skip
    names = ("pass@3 of 5, 50 tasks", "all 3 of 5, 50 tasks")
    return [share(name, held, simulations, at_least=0.93) for name, held in zip(names, (any_share, every), strict=True)]


def _cost(simulations: int) -> Line:
    dice, tasks, attempts = numpy.random.default_rng(14), 60, 3
    ease = dice.beta(1, 1.5, (simulations, tasks))
    resolved = dice.binomial(attempts, ease)
    # Hard tasks cost more: 0.02 dollars an attempt, and 0.08 more for what is not resolved at once.
    costs = attempts * (0.02 + 0.08 * (1 - ease)) * dice.gamma(4, 0.25, (simulations, tasks))
    truth, held = (0.02 + 0.08 * 0.6) / 0.4, 0
    for cost, row in zip(costs.tolist(), resolved.tolist(), strict=True):
        interval = stats.cost_per_resolved(cost, row)
        held += interval.low is not None and interval.low <= truth and (interval.high is None or truth <= interval.high)
    return share("cost per resolved, 60 tasks x 3", held, simulations, at_least=0.93)
