"""Several attempts a side: the test that exchanges the sides within tasks, and the interval that inverts it.

Under the hypothesis that the second entrant is ahead by d, a task's gap less d is as likely with the other sign.
Flipping the signs of a set of tasks gives a sum as far out as the observed one exactly where the mean gap of that set
is at most d: so the ends of the interval are order statistics of such means ("typical values"; Hartigan 1969, JASA
64:1303).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from stackrank.db.stats.rates import ALPHA, NORMAL, t_quantile

DRAWS = 9_999
_BATCH = 1_000
_FINEST = 60
"""Gaps are whole multiples of one part in this many at most: what is finer is rounded, for the test alone."""
_AT_ONCE = 100
"""Comparisons that are worked out together: so many, times twice the sum of the gaps, are in memory."""
_NOTHING = -1_000.0
"""The logarithm of what is taken for 0; times a count of 0 it is 0, as infinity is not."""
_NEGLIGIBLE = -50.0
"""The logarithm of what is left out of a sum of probabilities: all of it together is below rounding errors."""


def p_value(gaps: Any, attempts: int) -> float:
    """The exact two-sided p-value of the mean gap, were the sides of each task dealt by a coin (Good 2005).

    Gaps are multiples of 1 / `attempts`.
    """
    import numpy

    return p_values(whole(numpy.asarray(gaps), attempts)[None, :])[0]


def whole(gaps: Any, attempts: int) -> Any:
    """Gaps that are multiples of 1 / `attempts`, as the whole numbers that `p_values` takes."""
    import numpy

    return numpy.rint(gaps * min(attempts, _FINEST)).astype(int)


def p_values(gaps: Any) -> list[float]:
    """As `p_value`, for each row of whole gaps (comparisons x tasks; 0 where a task is not shared).

    The sum of the flipped gaps is a whole number, whose distribution is the transform of a product of cosines (Pagano
    and Tritchler 1983, JASA 78:435); of its tail, the transform is that times Dirichlet's kernel. All rows share the
    angles, so that each cosine is worked out once.
    """
    import numpy

    sizes = numpy.abs(gaps)
    totals, kinds = sizes.sum(axis=1), int(sizes.max(initial=0)) + 1
    points = int(totals.max(initial=0)) + 1 | 1  # odd, and one for each value that a sum may have
    turn = numpy.arange(2 * points) * (math.pi / points)
    cosines, sines = numpy.cos(turn), numpy.sin(turn)
    # As sums of logarithms: powers, one by one, would take most of the time of a board.
    with numpy.errstate(divide="ignore"):
        logs = numpy.maximum(numpy.log(numpy.abs(cosines)), _NOTHING)
    negative = (cosines < 0).astype(float)
    found: list[float] = []
    for start in range(0, len(gaps), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        counts = numpy.array([numpy.bincount(row, minlength=kinds) for row in sizes[part]], dtype=float)
        counts[:, 0] = 0
        steps = numpy.arange(points // 2 + 1)
        size = _over(counts, logs, steps)
        near = (size > _NEGLIGIBLE).any(axis=0)  # at most angles the product is next to nothing
        steps, size = steps[near], size[:, near]
        odd = _over(counts, negative, steps)
        weights = numpy.where(steps > 0, 2.0, 1.0) / (points * numpy.where(steps > 0, sines[steps], 1.0))
        lost = (totals[part] - numpy.abs(gaps[part].sum(axis=1))) // 2  # so many of the total, at most, for a tail
        kernel = sines[numpy.outer(lost + 1, steps) % (2 * points)]
        kernel[:, 0] = lost + 1
        kernel *= cosines[numpy.outer(totals[part] - lost, steps) % (2 * points)]
        tails = ((1 - 2 * (odd % 2)) * numpy.exp(size) * kernel) @ weights
        least = 0.5 ** counts.sum(axis=1)
        tails = numpy.where(lost > 0, numpy.maximum(tails, least), least)  # nothing is as far but all on one side
        found += numpy.minimum(1.0, 2 * tails).tolist()
    return found


def _over(counts: Any, values: Any, angles: Any) -> Any:
    """The sum over the gaps (comparisons x sizes: how many) of the value at size times angle: comparisons x angles."""
    import numpy

    at = numpy.outer(numpy.arange(counts.shape[1]), angles) % len(values)
    # Not by `@`: these are small, and the threads of a linear algebra library would spin longer than they work.
    return numpy.einsum("ij,jk->ik", counts, values[at])


@lru_cache(maxsize=4)
def _subsets(tasks: int, draws: int) -> Any:
    """Sets of tasks, a row each, as booleans: all of them where they are no more than `draws`, else random ones."""
    import numpy

    if 2**tasks <= draws:
        return (numpy.arange(2**tasks)[:, None] >> numpy.arange(tasks) & 1).astype(bool)
    dice = numpy.random.default_rng(0)
    return numpy.unpackbits(dice.integers(0, 256, (draws, -(-tasks // 8)), numpy.uint8), axis=1, count=tasks) > 0


def sums(values: Any, draws: int = DRAWS) -> Any:
    """The sums of each column of `values` (tasks x columns) over each of the sets: sets x columns."""
    import numpy

    chosen = _subsets(len(values), draws)
    parts = [chosen[start : start + _BATCH].astype(float) @ values for start in range(0, len(chosen), _BATCH)]
    # Rounded, so that what cancels is 0 and not 1e-17.
    return numpy.round(numpy.concatenate(parts), 10)


def interval(shares: Any, p_value: float) -> tuple[float, float, float, float]:
    """Low and high of the difference, and of the uplift, from the two rates of each task (tasks x 2).

    They leave 0 out if and only if the p-value is below 0.05; sets are drawn, so an end may have to be moved to the
    next set. An end of the uplift may be infinite. With fewer than six tasks no set is far enough out for the test:
    Student's interval then, and 0 in it.
    """
    import numpy

    tasks, base = len(shares), float(shares[:, 0].mean())
    gaps = shares[:, 1] - shares[:, 0]
    mean = float(gaps.mean())
    if p_value < ALPHA or tasks > 5:
        found = sums(numpy.column_stack([numpy.ones(tasks), gaps, shares[:, 0]]))
        found = found[found[:, 0] > 0]
        with numpy.errstate(divide="ignore", invalid="ignore"):
            ratios = numpy.where(found[:, 1] == 0, 0.0, found[:, 1] / found[:, 2])
        ends = [set_means_ends(values, mean, sure=p_value < ALPHA) for values in (found[:, 1] / found[:, 0], ratios)]
        (low, high), (up_low, up_high) = ends
    else:
        spread = float(gaps.std(ddof=1)) if tasks > 1 else 1.0
        reach = t_quantile(1 - ALPHA / 2, max(1, tasks - 1)) * spread / math.sqrt(tasks)
        low, high = max(-1.0, mean - reach), min(1.0, mean + reach)
        up_low, up_high = (max(-1.0, low / base), high / base) if base else (-1.0, math.inf)
    if p_value >= ALPHA:
        # Few gaps or none are no certainty: at least the score interval of as many tasks on which nothing differs.
        least = NORMAL**2 / (tasks + NORMAL**2)
        low, high = min(low, max(-1.0, mean - least), 0.0), max(high, min(1.0, mean + least), 0.0)
        up_low = min(up_low, max(-1.0, low / base) if base else -1.0, 0.0)
        up_high = max(up_high, high / base if base else math.inf, 0.0)
    return low, high, up_low, up_high


def set_means_ends(values: Any, mean: float, *, sure: bool) -> tuple[float, float]:
    """Low and high of a 95% interval from the values of the sets; `sure`: it must leave 0 out."""
    import numpy

    ordered = numpy.sort(values)
    # The observed set, and where all sets are there the empty one, count as one more at either end.
    place = max(0, math.ceil(ALPHA / 2 * (len(ordered) + 1)) - 2)
    low, high = float(ordered[place]), float(ordered[-1 - place])
    if sure and low <= 0 <= high:
        return (float(ordered[ordered > 0][0]), high) if mean > 0 else (low, float(ordered[ordered < 0][-1]))
    return low, high
