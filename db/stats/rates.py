"""One entrant at a time: its rate, how reliable it is, what a solved task costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, variance

ALPHA = 0.05
"""Intervals cover 1 - ALPHA; a p-value below ALPHA is called a difference."""
NORMAL = NormalDist().inv_cdf(1 - ALPHA / 2)


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its 95% interval, all in 0..1; None, never NaN, if nothing was counted."""

    rate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What a resolved episode costs, failures included, in dollars, with its 95% interval.

    `high` is None if so few were resolved that nothing bounds the cost; all are None if nothing was resolved.
    """

    cost: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class ReliabilityEstimate:
    """How much `k` attempts at a task help, and how often all `k` hold; over the tasks with that many attempts."""

    k: int
    tasks: int
    pass_at_k: Rate
    """At least one of k attempts resolves the task."""
    all_k: Rate
    """Every one of k attempts resolves the task."""


def normal_quantile(alpha: float) -> float:
    """How many standard errors an interval that covers 1 - alpha reaches to either side."""
    return NORMAL if alpha == ALPHA else -NormalDist().inv_cdf(max(alpha, 1e-300) / 2)


def tested_reach(difference: float, p_value: float, alpha: float) -> float:
    """How far an interval reaches that leaves 0 out if and only if p < alpha (Miettinen 1976, Am. J. Epidemiology 103).

    For intervals that are computed otherwise, where an exact test is surer than they are.
    """
    return abs(difference) * normal_quantile(alpha) / normal_quantile(p_value)


def rate(resolved: Sequence[float], counted: Sequence[int]) -> Rate:
    """The mean over tasks of the share of their episodes that were resolved, with an interval for tasks as clusters.

    `resolved[i]` of `counted[i]` episodes of task i were resolved; each task weighs the same, however often it was
    played. With one episode per task: the score interval of Wilson (1927, JASA 22:209). With several: Wilson's at the
    effective sample size p(1-p)/SE^2, SE being the cluster-robust error of an intercept-only regression on the tasks'
    shares (Liang and Zeger 1986), made smaller by the ratio of normal to t quantiles, and at most the number of
    episodes: Korn and Graubard (1998, Survey Methodology 24:193), found best for proportions in clusters by Franco et
    al. (2019, J. Survey Statistics and Methodology 7:334). Few resolved episodes say little about how alike those of a
    task are, so SE is computed with two more tasks that are always resolved and two that never are, as Agresti and
    Coull (1998, American Statistician 52:119) add episodes. So the interval does not narrow from 0 resolved to 1.

    If `resolved` adds up shares of mended faults, and not whole episodes, the shares themselves tell how much tasks
    differ: Wilson's interval at the effective size, with SE as observed and no bound.
    """
    pairs = [(r, n) for r, n in zip(resolved, counted, strict=True) if n > 0]
    if not is_whole(r for r, _ in pairs):
        return _mean_of_outcomes([r / n for r, n in pairs])
    return _mean_of_shares([r / n for r, n in pairs], [n for _, n in pairs])


def is_whole(resolved: Iterable[float]) -> bool:
    """Whether these sums of outcomes count whole episodes, each of them resolved or not."""
    return all(float(number).is_integer() for number in resolved)


def _mean_of_outcomes(shares: list[float]) -> Rate:
    """Return the mean of outcomes between 0 and 1, one for each task, and its interval."""
    tasks, share = len(shares), fmean(shares)
    error = variance(shares) / tasks if tasks > 1 else 0.0
    if error == 0.0:
        return _wilson(share, tasks)  # equal outcomes of a few tasks are no certainty
    return _wilson(share, share * (1 - share) / error * (NORMAL / t_quantile(1 - ALPHA / 2, tasks - 1)) ** 2)


def t_quantile(probability: float, freedom: float) -> float:
    """The quantile of Student's t. `scipy.stats` has the same function behind a much slower import."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def _wilson(share: float, size: float) -> Rate:
    spread = NORMAL**2 / size
    centre = (share + spread / 2) / (1 + spread)
    reach = math.sqrt(spread * (share * (1 - share) + spread / 4)) / (1 + spread)
    # Rounding must not push the end of the interval past the rate itself.
    return Rate(share, min(share, max(0.0, centre - reach)), max(share, min(1.0, centre + reach)))


def _mean_of_shares(shares: list[float], counted: list[int]) -> Rate:
    """Return the mean of the shares of tasks, each with `counted` episodes, and its interval."""
    tasks = len(shares)
    if not tasks:
        return Rate(None, None, None)
    share = fmean(shares)
    if max(counted) == 1 or tasks == 1:
        return _wilson(share, tasks)
    added = 2
    middle = (sum(shares) + added) / (tasks + 2 * added)
    spread = (sum(share * share for share in shares) + added) / (tasks + 2 * added) - middle**2
    smaller = NORMAL / t_quantile(1 - ALPHA / 2, tasks - 1)
    # The effective number of episodes if they had nothing in common but the chance of success.
    max_size = tasks**2 / sum(1 / n for n in counted)
    size = min(max_size, (tasks - 1) * middle * (1 - middle) / spread * smaller**2)
    return _wilson(share, size)


def reliability(resolved: Sequence[int], counted: Sequence[int], k: int) -> ReliabilityEstimate:
    """pass@k and all-k from `resolved[i]` of `counted[i]` attempts at task i; tasks with fewer than k are left out.

    Unbiased: pass@k is the mean over tasks of 1 - C(n-c, k) / C(n, k), with c of n attempts resolved (Chen et al.
    2021, arXiv:2107.03374, equation 1); all-k that of C(c, k) / C(n, k) (Yao et al. 2024, arXiv:2406.12045, pass^k).
    Intervals are as for `rate`, where a task is one cluster.
    Raises `ValueError` for a k below 1.
    """
    if k < 1:
        raise ValueError(f"k is {k}: it counts attempts and starts at 1")
    pairs = [(c, n) for c, n in zip(resolved, counted, strict=True) if n >= k]
    any_resolved = [1 - math.comb(n - c, k) / math.comb(n, k) for c, n in pairs]
    all_resolved = [math.comb(c, k) / math.comb(n, k) for c, n in pairs]
    counts = [n for _, n in pairs]
    return ReliabilityEstimate(
        k, len(pairs), _mean_of_shares(any_resolved, counts), _mean_of_shares(all_resolved, counts)
    )


def cost_per_resolved(costs: Sequence[float], resolved: Sequence[int]) -> CostEstimate:
    """The cost of all episodes divided by how many were resolved; `costs[i]` dollars bought `resolved[i]` on task i.

    The interval is for a ratio of means over tasks: Fieller (1954, J. Royal Statistical Society B 16:175), with t
    quantiles. With fewer than two tasks there is none.
    """
    solved = sum(resolved)
    if not solved:
        return CostEstimate(None, None, None)
    n, ratio = len(costs), sum(costs) / solved
    if ratio == 0:
        return CostEstimate(0.0, 0.0, 0.0)  # an entrant without a model costs nothing, however little it resolves
    if n < 2:
        return CostEstimate(ratio, None, None)
    import numpy

    mean_cost, mean_solved = fmean(costs), solved / n
    spread = numpy.cov(costs, resolved)
    reach = t_quantile(1 - ALPHA / 2, n - 1) ** 2 / n
    # The ratios R for which mean_cost - R mean_solved is no further from 0 than chance allows: a R^2 - 2 b R + c <= 0.
    a = mean_solved**2 - reach * float(spread[1, 1])
    b = mean_cost * mean_solved - reach * float(spread[0, 1])
    c = mean_cost**2 - reach * float(spread[0, 0])
    root = math.sqrt(max(0.0, b * b - a * c))
    if a <= 0:
        # It is not certain that more than 0 would be resolved, so no cost is too high.
        return CostEstimate(ratio, max(0.0, (b - root) / a) if a < 0 and c > 0 else 0.0, None)
    return CostEstimate(ratio, max(0.0, (b - root) / a), (b + root) / a)
