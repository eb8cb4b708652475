"""Plan a comparison of two entrants: its power, and the tasks and attempts that it needs.

The variance of a task's gap has two parts (Miller 2024, "Adding Error Bars to Evals", arXiv:2411.00640): tasks favour
one entrant or the other, which more tasks average out; and each attempt is partly chance, which more attempts average
out too. If both parts are known, the power of the test that decides follows from them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, variance

from stackrank.db.stats.pairs import TaskScore
from stackrank.db.stats.power import POWER, mcnemar_power
from stackrank.db.stats.rates import is_whole

_HALF = 0.5
_MIN_VARIANCE = 1e-4
"""The least variance that is assumed: it is never 0, even if a few tasks showed none."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How the gap of two entrants varies, in squared shares."""

    between: float
    """The variance over tasks of the true difference of the two entrants' chances."""
    within: float
    """The variance that chance adds to the gap of one attempt each at the same task, averaged over tasks."""
    assumed_split: bool = False
    """Whether only the sum of the two is known, and each is taken as half of it."""
    whole: bool = True
    """Whether an episode is resolved or not; otherwise its outcome is a share of mended faults."""

    def of(self, attempts: int) -> float:
        """The variance of a task's gap with this many attempts of either entrant."""
        return self.between + self.within / attempts


ASSUMED = Spread(between=0.1, within=0.15)
"""Two entrants whose single attempts come out differently on a quarter of the tasks, more by chance than by skill."""

ASSUMED_SHARES = Spread(between=0.008, within=0.008, whole=False)
"""Two entrants on releases like those of `marathon`, as `tests/bench/statistics/shares.py` simulates them."""


def spread(pairs: Sequence[Sequence[tuple[TaskScore, TaskScore]]]) -> Spread | None:
    """Estimate the spread from pairs of entrants, given `(resolved, counted)` of either side for each task.

    The spread is a mean over the pairs, weighted by their tasks; None if no pair has ten tasks in common. It is
    unbiased: the variance due to chance is estimated from attempts of one entrant at a task that differ, and subtracted
    from the variance of the gaps.
    """
    task_variances, chance_variances, weights, split = [], [], [], False
    whole = is_whole(side[0] for tasks in pairs for task in tasks for side in task)
    for tasks in (pair for pair in pairs if len(pair) >= 10):
        gaps = [b / n - a / m for (a, m), (b, n) in tasks]
        repeated = [task for task in tasks if task[0][1] > 1 and task[1][1] > 1]
        if whole and 2 * len(repeated) >= len(tasks):
            chance = fmean(_attempt_variance(*first) + _attempt_variance(*second) for first, second in repeated)
            noise = fmean(
                _attempt_variance(*first) / first[1] + _attempt_variance(*second) / second[1]
                for first, second in repeated
            )
            task_variances.append(max(0.0, variance(gaps) - noise))
            chance_variances.append(chance)
        else:
            split = True
            attempts = max(1.0, fmean(min(first[1], second[1]) for first, second in tasks))
            task_variances.append(_HALF * variance(gaps))
            chance_variances.append(_HALF * variance(gaps) * attempts)
        weights.append(len(tasks))
    if not weights:
        return None
    return Spread(fmean(task_variances, weights), fmean(chance_variances, weights), split, whole)


def _attempt_variance(resolved: float, counted: int) -> float:
    """Estimate the variance of a single attempt from several attempts at one task."""
    share = resolved / counted
    return share * (1 - share) * counted / (counted - 1)


def power(difference: float, tasks: int, attempts: int, of: Spread, alpha: float) -> float:
    """Return the chance that the test finds a true difference (0..1) and says which way it goes.

    With one attempt that resolves a task or not, the test is exact McNemar's, over the numbers of tasks that may come
    out differently. With several, or with shares of mended faults, it is the permutation of signs, whose distribution
    is close to a normal one with the mean square of the gaps as its variance (Lehmann and Romano 2005, chapter 15).
    `tests/bench/statistics/planning.py` compares both with the tests themselves.
    """
    if attempts == 1 and of.whole:
        return _mcnemar(difference, tasks, of, alpha)
    if tasks < _min_tasks(alpha):
        return 0.0
    chance = max(of.of(attempts), _MIN_VARIANCE)
    reach = NormalDist().inv_cdf(1 - alpha / 2) * math.sqrt(chance + difference**2)
    return NormalDist().cdf((difference * math.sqrt(tasks) - reach) / math.sqrt(chance))


def _min_tasks(alpha: float) -> int:
    """Return the fewest tasks with which equal signs of all gaps are significant."""
    return math.ceil(1 - math.log2(alpha))


def _mcnemar(difference: float, tasks: int, of: Spread, alpha: float) -> float:
    # The share of tasks that come out differently is the mean square of the gap.
    return mcnemar_power(tasks, difference, min(1.0, of.of(1) + difference**2), alpha)


def needed_tasks(difference: float, attempts: int, of: Spread, alpha: float) -> int:
    """Return how many tasks it takes to find a true difference with 80% power."""
    normal, chance = NormalDist(), max(of.of(attempts), _MIN_VARIANCE)
    reach = normal.inv_cdf(1 - alpha / 2) * math.sqrt(chance + difference**2)
    estimate = ((reach + normal.inv_cdf(POWER) * math.sqrt(chance)) / difference) ** 2
    if attempts > 1 or not of.whole:
        return max(_min_tasks(alpha), math.ceil(estimate))
    low, high = 1, 2 * math.ceil(estimate) + 20
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _mcnemar(difference, middle, of, alpha) >= POWER else (middle, high)
    return high


def detectable_difference(tasks: int, attempts: int, of: Spread, alpha: float) -> float | None:
    """Return the smallest true difference that is found with 80% power; None if not even 100 points are found."""
    low, high = 0.0, 1.0
    if power(high, tasks, attempts, of, alpha) < POWER:
        return None
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle, tasks, attempts, of, alpha) >= POWER else (middle, high)
    return high
