"""Paired intervals and tests: coverage, agreement, and false positives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from stackrank.db import stats
from tests.bench.statistics import Line, share

WORLDS: list[tuple[str, int, int, tuple[float, float], float, float]] = [
    ("middle", 80, 1, (0.9, 1.1), 0.3, 0.3),
    ("few tasks", 20, 1, (0.9, 1.1), 0.3, 0.2),
    ("near the ceiling", 60, 1, (19.0, 1.0), 0.0, 0.05),
    ("near the ceiling", 20, 1, (9.0, 1.0), 0.0, 0.1),
    ("middle", 60, 3, (0.9, 1.1), 0.3, 0.3),
    ("few tasks", 12, 3, (0.9, 1.1), 0.3, 0.2),
    ("near the ceiling", 60, 3, (19.0, 1.0), 0.0, 0.05),
]
"""Name, tasks, attempts, the tasks' ease (beta), the gain and the loss of the second entrant."""


def table(simulations: int) -> list[Line]:
    """Coverage of the difference and of the uplift, agreement of interval and test, and the test's size."""
    return [line for world in WORLDS for line in _lines(simulations, *world)]


def _lines(
    simulations: int,
    name: str,
    tasks: int,
    attempts: int,
    ease: tuple[float, float],
    gain: float,
    loss: float,
) -> list[Line]:
    dice, setup = numpy.random.default_rng(12), f"{name}, {tasks} tasks x {attempts}"
    chance = dice.beta(*ease, (simulations, tasks))
    changed_chance = numpy.where(dice.random(chance.shape) < 0.5, chance + (1 - chance) * gain, chance * (1 - loss))
    mean = ease[0] / sum(ease)
    truth = 0.5 * (mean + (1 - mean) * gain) + 0.5 * mean * (1 - loss) - mean
    differences = _compared(dice.binomial(attempts, chance), dice.binomial(attempts, changed_chance), attempts)
    ratios = [difference for difference in differences if difference.uplift is not None]
    quiet = _compared(dice.binomial(attempts, chance), dice.binomial(attempts, chance), attempts)

    def uplift_covers(difference: Any) -> bool:
        return bool(
            difference.uplift_low <= truth / mean
            and (difference.uplift_high is None or truth / mean <= difference.uplift_high)
        )

    return [
        _share(
            f"difference covered: {setup}",
            differences,
            lambda difference: difference.low <= truth <= difference.high,
            at_least=0.93,
        ),
        _share(f"uplift covered: {setup}", ratios, uplift_covers, at_least=0.93),
        _share(f"interval and test agree: {setup}", differences + quiet, _agree, at_least=1.0),
        _share(f"false positives: {setup}", quiet, lambda difference: difference.p_value < stats.ALPHA, at_most=0.05),
    ]


def _compared(first: Any, second: Any, attempts: int) -> list[stats.PairedDifference]:
    rows = zip(first.tolist(), second.tolist(), strict=True)
    return [stats.paired_difference([(n, attempts) for n in a], [(n, attempts) for n in b]) for a, b in rows]


def _agree(difference: Any) -> bool:
    sure = difference.p_value < stats.ALPHA
    uplift = difference.uplift is None or sure == (difference.uplift_low > 0 or (difference.uplift_high or 9e9) < 0)
    return bool(uplift and sure == (difference.low > 0 or difference.high < 0))


def _share(name: str, differences: list[stats.PairedDifference], held: Callable[[Any], bool], **bounds: float) -> Line:
    return share(name, sum(map(held, differences)), len(differences), **bounds)
