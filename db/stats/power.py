"""The power of the paired tests that decide comparisons.

A true difference is modelled like this: each task shows a gap of a size as observed, more often in favour of the better
side. If even all gaps in its favour are not enough, it wins a part of the other tasks too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stackrank.db.stats import flips
from stackrank.db.stats.pairs import TaskScore, is_single_attempt, tasks_of_both
from stackrank.db.stats.rates import ALPHA

POWER = 0.8
_BOARDS, _DRAWS = 300, 499


def detectable(first: Sequence[TaskScore], second: Sequence[TaskScore], *, power: float = POWER) -> float | None:
    """Return the smallest true difference that is found with this power at p < 0.05 between entrants played as these.

    None if there are too few tasks to find any difference with this power.
    """
    import numpy

    pairs = tasks_of_both(first, second)
    if not pairs:
        return None
    gaps = [b[0] / b[1] - a[0] / a[1] for a, b in pairs]
    # Without a single gap nobody knows how often there is one: assume that one more task had shown a gap.
    sizes = numpy.abs(numpy.array(gaps)) if any(gaps) else numpy.array([*(0.0 for _ in gaps), 1.0])
    tasks = len(gaps)
    if is_single_attempt(pairs):
        discordance = float(sizes.mean())
        return _smallest(lambda difference: mcnemar_power(tasks, difference, discordance), power)
    return _smallest(lambda difference: permutation_power(tasks, difference, sizes), power)


def _smallest(power_at: Callable[[float], float], power: float) -> float | None:
    if power_at(1.0) < power:
        return None
    low, high = 0.0, 1.0
    while high - low > 0.0005:
        middle = (low + high) / 2
        low, high = (low, middle) if power_at(middle) >= power else (middle, high)
    return high


def mcnemar_power(tasks: int, difference: float, discordance: float, alpha: float = ALPHA) -> float:
    """The power of exact McNemar at p < `alpha` if a share `discordance` of the tasks is resolved by one side only.

    It is exact, over the number of such tasks (Duffy 1984, Biometrics 40:1005). If the discordance is smaller than the
    difference, it is raised to it.
    """
    import numpy
    from scipy.special import bdtr, bdtrik, gammaln, xlog1py, xlogy

    discordance = max(discordance, abs(difference))
    if discordance == 0:
        return 0.0
    counts = numpy.arange(tasks + 1.0)
    of_counts = numpy.exp(
        gammaln(tasks + 1)
        - gammaln(counts + 1)
        - gammaln(tasks - counts + 1)
        + xlogy(counts, discordance)
        + xlog1py(tasks - counts, -discordance)
    )
    # The most tasks that the weaker side may win for the test to reject; below 0 if it never rejects.
    max_wins = numpy.floor(numpy.nan_to_num(bdtrik(alpha / 2, counts, 0.5), nan=-1.0))
    differing = counts.astype(int)
    max_wins = numpy.where(
        (max_wins >= 0) & (bdtr(numpy.maximum(max_wins, 0), differing, 0.5) >= alpha / 2), max_wins - 1, max_wins
    )
    ahead = (1 + difference / discordance) / 2
    rejects = bdtr(numpy.maximum(max_wins, 0), differing, ahead) + bdtr(
        numpy.maximum(max_wins, 0), differing, 1 - ahead
    )
    return float((of_counts * numpy.where(max_wins >= 0, rejects, 0.0)).sum())


def permutation_power(tasks: int, difference: float, sizes: Any) -> float:
    """Simulate the power of the permutation test at p < 0.05 if the size of a task's gap is drawn from `sizes`."""
    import numpy

    dice, mean = numpy.random.default_rng(0), float(sizes.mean())
    sampled = dice.choice(sizes, (tasks, _BOARDS))
    if difference > mean:
        sampled = numpy.where(dice.random(sampled.shape) < (difference - mean) / (1 - mean), 1.0, sampled)
    ahead = min(1.0, (1 + difference / mean) / 2)
    gaps = sampled * numpy.where(dice.random(sampled.shape) < ahead, 1.0, -1.0)
    flipped = flips.subset_sums(gaps * numpy.where(gaps.sum(axis=0) < 0, -1.0, 1.0), _DRAWS)
    as_far = (flipped <= 0).sum(axis=0) + (0 if 2**tasks <= _DRAWS else 1)
    return float((2 * as_far < ALPHA * len(flipped)).mean())
