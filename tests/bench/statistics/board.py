"""Boards of ten entrants: false rank differences, false error warnings, and power."""

from __future__ import annotations

from typing import Any

import numpy

from stackrank.db import stats
from tests.bench.statistics import Line, share

ENTRANTS, TASKS = 10, 150


def table(simulations: int) -> list[Line]:
    """False alarms on boards of equals, and the power at the difference that is called detectable."""
    return [
        *(_equals(simulations, attempts) for attempts in (1, 3)),
        *(_errors(simulations, hard) for hard in (False, True)),
        *(_power(simulations, tasks, attempts) for tasks, attempts in ((20, 1), (150, 1), (40, 3))),
    ]


def _equals(simulations: int, attempts: int) -> Line:
    """Boards on which any two of ten equals are told apart."""
    dice, wrong = numpy.random.default_rng(51), 0
    for _ in range(simulations):
        chances = dice.beta(0.9, 1.1, TASKS)
        counted = numpy.full((ENTRANTS, TASKS), attempts)
        ranges = stats.rank_ranges(dice.binomial(counted, chances), counted)
        wrong += any(ranks != (1, ENTRANTS) for ranks in ranges)
    return share(f"10 equals are told apart, {TASKS} x {attempts}", wrong, simulations, at_most=0.05)


def _errors(simulations: int, hard: bool) -> Line:
    """Boards that warn although errors meet all alike: on any task, or on hard ones only."""
    dice, wrong = numpy.random.default_rng(52), 0
    for _ in range(simulations):
        chances = 0.3 * dice.beta(0.5, 2, TASKS) if hard else numpy.full(TASKS, 0.03)
        balance = stats.error_balance(dice.binomial(1, chances, (ENTRANTS, TASKS)), numpy.ones((ENTRANTS, TASKS), int))
        wrong += min(balance) < stats.ALPHA
    name = "hard tasks" if hard else "all tasks"
    return share(f"balanced errors on {name} are warned of", wrong, simulations, at_most=0.05)


def _power(simulations: int, tasks: int, attempts: int) -> Line:
    """How often a difference is found that the same board called detectable with 80% power."""
    dice = numpy.random.default_rng(53)
    first, second = _pair(dice, tasks, attempts)
    least = stats.detectable(first, second)
    assert least is not None
    sizes = numpy.abs([b[0] / b[1] - a[0] / a[1] for a, b in zip(first, second, strict=True)])
    mean, hits, boards = float(sizes.mean()), 0, max(60, simulations // 2)
    for _ in range(boards):
        sample = dice.choice(sizes, tasks)
        if least > mean:
            sample = numpy.where(dice.random(tasks) < (least - mean) / (1 - mean), 1.0, sample)
        gaps = sample * numpy.where(dice.random(tasks) < min(1.0, (1 + least / mean) / 2), 1, -1)
        up = numpy.rint(gaps * attempts).astype(int)
        first_counts = [(int(max(0, -n)), attempts) for n in up]
        second_counts = [(int(max(0, n)), attempts) for n in up]
        p_value = stats.paired_difference(first_counts, second_counts).p_value
        hits += p_value is not None and p_value < stats.ALPHA
    name = f"power at the {100 * least:.0f} points called detectable, {tasks} x {attempts}"
    return share(name, hits, boards, at_least=0.75, at_most=0.87)


def _pair(dice: numpy.random.Generator, tasks: int, attempts: int) -> tuple[Any, Any]:
    ease = dice.beta(0.9, 1.1, tasks)
    sides = (dice.binomial(attempts, ease), dice.binomial(attempts, ease))
    return tuple([(int(n), attempts) for n in side] for side in sides)
