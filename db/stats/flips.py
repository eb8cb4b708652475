"""Several attempts per side: the test that exchanges the sides within tasks, and the interval that inverts it.

Under the hypothesis that the second entrant is ahead by d, a task's gap less d is as likely with the opposite sign.
Flipping the signs of a set of tasks gives a sum as extreme as the observed one if and only if the mean gap of that set
is at most d. So the ends of the interval are order statistics of such means ("typical values"; Hartigan 1969, JASA
64:1303).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from stackrank.db.stats.rates import ALPHA, NORMAL, normal_quantile, t_quantile

DRAWS = 9_999
SEED = 0
"""How many sets of tasks an interval draws if there are more, and the seed of these draws."""
_FEW_BEYOND = 10
"""With fewer sets outside of an interval, its ends are not told by these sets alone."""
_BATCH = 1_000
FINEST = 60
"""For the test alone, gaps that are finer than one part in this many are rounded to whole parts."""
_AT_ONCE = 100
"""How many comparisons are computed together: this number times twice the sum of the gaps is held in memory."""
_LOG_OF_ZERO = -1_000.0
"""The logarithm that stands for that of 0. Unlike infinity, it gives 0 when multiplied by a count of 0."""
_NEGLIGIBLE = -50.0
"""Terms with a smaller logarithm are left out of a sum of probabilities: together they are below rounding errors."""


def p_value(gaps: Any, attempts: int) -> float:
    """The exact two-sided p-value of the mean gap if a coin had decided the sides of each task (Good 2005).

    Gaps are multiples of 1 / `attempts`.
    """
    import numpy

    return p_values(as_integers(numpy.asarray(gaps), attempts)[None, :])[0]


def as_integers(gaps: Any, attempts: int) -> Any:
    """Convert gaps that are multiples of 1 / `attempts` to the whole numbers that `p_values` takes."""
    import numpy

    return numpy.rint(gaps * min(attempts, FINEST)).astype(int)


def p_values(gaps: Any) -> list[float]:
    """Return the `p_value` of each row of whole gaps (comparisons x tasks; 0 if a task is not shared).

    The sum of the flipped gaps is a whole number, whose distribution is the transform of a product of cosines (Pagano
    and Tritchler 1983, JASA 78:435); its tail is the transform of that product times Dirichlet's kernel. All rows share
    the angles, so that each cosine is computed once.
    """
    import numpy

    sizes = numpy.abs(gaps)
    totals, kinds = sizes.sum(axis=1), int(sizes.max(initial=0)) + 1
    points = int(totals.max(initial=0)) + 1 | 1  # odd, and one for each value that a sum may have
    turn = numpy.arange(2 * points) * (math.pi / points)
    cosines, sines = numpy.cos(turn), numpy.sin(turn)
    # Products are sums of logarithms, because computing powers one by one would take most of the time of a board.
    with numpy.errstate(divide="ignore"):
        logs = numpy.maximum(numpy.log(numpy.abs(cosines)), _LOG_OF_ZERO)
    negative = (cosines < 0).astype(float)
    p_values: list[float] = []
    for start in range(0, len(gaps), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        counts = numpy.array([numpy.bincount(row, minlength=kinds) for row in sizes[part]], dtype=float)
        counts[:, 0] = 0
        steps = numpy.arange(points // 2 + 1)
        size = _sum_over_sizes(counts, logs, steps)
        is_relevant = (size > _NEGLIGIBLE).any(axis=0)  # at most angles the product is negligible
        steps, size = steps[is_relevant], size[:, is_relevant]
        odd = _sum_over_sizes(counts, negative, steps)
        weights = numpy.where(steps > 0, 2.0, 1.0) / (points * numpy.where(steps > 0, sines[steps], 1.0))
        lost = (totals[part] - numpy.abs(gaps[part].sum(axis=1))) // 2  # in a tail, one side has at most this sum
        kernel = sines[numpy.outer(lost + 1, steps) % (2 * points)]
        kernel[:, 0] = lost + 1
        kernel *= cosines[numpy.outer(totals[part] - lost, steps) % (2 * points)]
        tails = ((1 - 2 * (odd % 2)) * numpy.exp(size) * kernel) @ weights
        least = 0.5 ** counts.sum(axis=1)
        tails = numpy.where(lost > 0, numpy.maximum(tails, least), least)  # only all gaps on one side are as extreme
        p_values += numpy.minimum(1.0, 2 * tails).tolist()
    return p_values


def _sum_over_sizes(counts: Any, values: Any, angles: Any) -> Any:
    """Sum the value at size times angle over the gaps, counted as comparisons x sizes. Returns comparisons x angles."""
    import numpy

    at = numpy.outer(numpy.arange(counts.shape[1]), angles) % len(values)
    # Not by `@`: the matrices are small, and the threads of a linear algebra library would spin longer than they work.
    return numpy.einsum("ij,jk->ik", counts, values[at])


@lru_cache(maxsize=4)
def _subsets(tasks: int, draws: int) -> Any:
    """Return sets of tasks as rows of booleans: all sets if there are at most `draws`, otherwise random ones."""
    import numpy

    if 2**tasks <= draws:
        return (numpy.arange(2**tasks)[:, None] >> numpy.arange(tasks) & 1).astype(bool)
    dice = numpy.random.default_rng(SEED)
    return numpy.unpackbits(dice.integers(0, 256, (draws, -(-tasks // 8)), numpy.uint8), axis=1, count=tasks) > 0


def subset_sums(values: Any, draws: int = DRAWS) -> Any:
    """Sum each column of `values` (tasks x columns) over each set of tasks: sets x columns."""
    import numpy

    subsets = _subsets(len(values), draws)
    parts = [subsets[start : start + _BATCH].astype(float) @ values for start in range(0, len(subsets), _BATCH)]
    # Rounded, so that gaps that cancel sum to 0 and not to 1e-17.
    return numpy.round(numpy.concatenate(parts), 10)


def interval(
    shares: Any, p_value: float, alpha: float = ALPHA, *, whole: bool = True
) -> tuple[float, float, float, float]:
    """Return low and high of the difference, and of the uplift, from the two rates of each task (tasks x 2).

    The intervals leave 0 out if and only if the p-value is below `alpha`; sets are drawn at random, so an end may have
    to be moved to the next set. An end of the uplift may be infinite. With few tasks (five, by default) no set is
    extreme enough for the test, so the interval is Student's, extended to include 0. `whole`: whether episodes were
    resolved or not; otherwise the rates are shares of mended faults, which few tasks without a gap do not hide.
    """
    import numpy

    tasks, base = len(shares), float(shares[:, 0].mean())
    gaps = shares[:, 1] - shares[:, 0]
    mean = float(gaps.mean())
    if p_value < alpha or can_tell(tasks, alpha):
        sums_by_subset = subset_sums(numpy.column_stack([numpy.ones(tasks), gaps, shares[:, 0]]))
        sums_by_subset = sums_by_subset[sums_by_subset[:, 0] > 0]
        with numpy.errstate(divide="ignore", invalid="ignore"):
            ratios = numpy.where(sums_by_subset[:, 1] == 0, 0.0, sums_by_subset[:, 1] / sums_by_subset[:, 2])
        ends = [
            subset_interval(values, mean, alpha, sure=p_value < alpha)
            for values in (sums_by_subset[:, 1] / sums_by_subset[:, 0], ratios)
        ]
        (low, high), (up_low, up_high) = ends
    else:
        spread = float(gaps.std(ddof=1)) if tasks > 1 else 1.0
        reach = t_quantile(1 - alpha / 2, max(1, tasks - 1)) * spread / math.sqrt(tasks)
        low, high = max(-1.0, mean - reach), min(1.0, mean + reach)
        up_low, up_high = (max(-1.0, low / base), high / base) if base else (-1.0, math.inf)
    low, high, up_low = max(-1.0, low), min(1.0, high), max(-1.0, up_low)
    if p_value >= alpha and not whole and gaps.any():
        low, high, up_low, up_high = min(low, 0.0), max(high, 0.0), min(up_low, 0.0), max(up_high, 0.0)
    elif p_value >= alpha:
        # Few gaps or none are no certainty: use at least the score interval of as many tasks without a difference.
        least = least_reach(tasks, alpha)
        low, high = min(low, max(-1.0, mean - least), 0.0), max(high, min(1.0, mean + least), 0.0)
        up_low = min(up_low, max(-1.0, low / base) if base else -1.0, 0.0)
        up_high = max(up_high, high / base if base else math.inf, 0.0)
    return low, high, up_low, up_high


def can_tell(tasks: int, alpha: float) -> bool:
    """Whether gaps that are all on one side are rare enough for the test, if a coin decides the sides."""
    return 2.0 ** (1 - tasks) < alpha


def least_reach(tasks: int, alpha: float = ALPHA) -> float:
    """How far the score interval of so many tasks without a difference reaches to either side."""
    size = normal_quantile(alpha) ** 2
    return size / (tasks + size)


def subset_interval(values: Any, mean: float, alpha: float = ALPHA, *, sure: bool) -> tuple[float, float]:
    """Return low and high of an interval that covers 1 - alpha from the values of the sets.

    `sure`: it must leave 0 out. Where too few sets lie so far out, the ends are at least those of the 95% interval,
    moved away from the middle as with normal errors.
    """
    import numpy

    ordered = numpy.sort(values)
    low, high = _ends(ordered, alpha)
    middle, farther = float(ordered[len(ordered) // 2]), normal_quantile(alpha) / NORMAL
    if alpha * len(ordered) < _FEW_BEYOND and math.isfinite(middle):
        usual = _ends(ordered, ALPHA)
        low = min(low, middle - farther * (middle - usual[0]))
        high = max(high, middle + farther * (usual[1] - middle))
    if sure and low <= 0 <= high:
        return (float(ordered[ordered > 0][0]), high) if mean > 0 else (low, float(ordered[ordered < 0][-1]))
    return low, high


def _ends(ordered: Any, alpha: float) -> tuple[float, float]:
    # The observed set, and the empty one if all sets are included, count as one more value at either end.
    place = max(0, math.ceil(alpha / 2 * (len(ordered) + 1)) - 2)
    return float(ordered[place]), float(ordered[-1 - place])
