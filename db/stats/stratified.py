"""Compare one entrant's episodes with others of the same, fixed tasks: has its chance changed?

Unlike `pairs`, which asks about tasks like these, this asks about exactly these tasks. So chance is only in how often
episodes of one task differ, and a benchmark on which most tasks always end alike reveals small changes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from stackrank.db.stats.pairs import TaskCount
from stackrank.db.stats.rates import NORMAL

_NEVER = 1e-20
"""Less likely values of a sum are left out: a sum has thousands of values, of which few are possible in practice."""


def p_value(first: Sequence[TaskCount], second: Sequence[TaskCount]) -> float:
    """The exact two-sided p-value for `first` and `second` having the same chances, task by task.

    Given how many episodes of a task succeeded in all, those among `first` are hypergeometric; their sum over the tasks
    is the statistic (exact conditional test of Mantel and Haenszel; Agresti 2013, Categorical Data Analysis, 7.3.5).
    """
    tables = [(a, n, b, m) for (a, n), (b, m) in zip(first, second, strict=True) if n and m and 0 < a + b < n + m]
    kinds = Counter((a + b, n, n + m) for a, n, b, m in tables)
    least, chances = _sum_distribution(tuple(sorted(kinds.items())))
    observed = sum(a for a, *_ in tables) - least
    tails = chances[: max(0, observed + 1)].sum(), chances[max(0, observed) :].sum()
    return float(min(1.0, 2 * max(_NEVER, min(tails))))


@lru_cache(maxsize=64)
def _sum_distribution(tables: tuple[tuple[tuple[int, int, int], int], ...]) -> tuple[int, Any]:
    """Return the least sum over tables, each repeated so many times, and the chances of it and of all larger sums.

    Entrants that played the same tasks equally often share the cached result.
    """
    import numpy

    least, chances = 0, numpy.ones(1)
    for (successes, sample_size, episodes), times in tables:
        power = (
            max(0, sample_size - (episodes - successes)),
            numpy.array(_hypergeometric(successes, sample_size, episodes)),
        )
        while times:  # the power of a table, by repeated squaring
            if times & 1:
                least, chances = _convolve((least, chances), power)
            times >>= 1
            power = _convolve(power, power) if times else power
    return least, chances


def _convolve(first: tuple[int, Any], second: tuple[int, Any]) -> tuple[int, Any]:
    """The distribution of the sum of two independent numbers, without values that never happen."""
    import numpy

    chances = numpy.convolve(first[1], second[1])
    likely = numpy.flatnonzero(chances > _NEVER)
    return first[0] + second[0] + int(likely[0]), chances[likely[0] : likely[-1] + 1]


def _hypergeometric(successes: int, sample_size: int, episodes: int) -> list[float]:
    """The chances of all possible numbers of successes among those drawn, the least one first."""
    failures, ways = episodes - successes, math.comb(episodes, sample_size)
    possible = range(max(0, sample_size - failures), min(successes, sample_size) + 1)
    return [math.comb(successes, n) * math.comb(failures, sample_size - n) / ways for n in possible]


def interval(first: Sequence[TaskCount], second: Sequence[TaskCount]) -> tuple[float, float, float]:
    """Return how far the mean rate of `first` is above that of `second` over the tasks of both, with low and high.

    Each task weighs the same. The variance is that of the test, of hypergeometric numbers, as if one more task had
    differed, because tasks that all end alike are no certainty.
    """
    gaps, variance = [], 1.0
    for (a, n), (b, m) in zip(first, second, strict=True):
        if n and m:
            gaps.append(a / n - b / m)
            variance += (a + b) * (n + m - a - b) / ((n + m) * (n + m - 1)) * (1 / n + 1 / m)
    mean, reach = sum(gaps) / len(gaps), NORMAL * math.sqrt(variance) / len(gaps)
    return mean, max(-1.0, mean - reach), min(1.0, mean + reach)
