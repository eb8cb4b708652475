"""One entrant at a time: its rate, how reliable it is, what a solved task costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

ALPHA = 0.05
"""Intervals cover 1 - ALPHA; a p-value below it is called a difference."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its 95% interval, all in 0..1; NaN-free: None where nothing was counted."""

    rate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Cost:
    """What a resolved episode costs, failures included, in dollars, with its 95% interval.

    `high` None: so few were resolved that nothing bounds the cost. All None: nothing was resolved.
    """

    cost: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Reliability:
    """How much `k` attempts at a task help, and how often all `k` hold; over the tasks with that many attempts."""

    k: int
    tasks: int
    pass_at_k: Rate
    """At least one of k attempts resolves the task."""
    all_k: Rate
    """Every one of k attempts resolves the task."""


def rate(resolved: Sequence[int], counted: Sequence[int]) -> Rate:
    """The rate over all episodes, with an interval that knows that episodes of one task are alike.

    `resolved[i]` of `counted[i]` episodes of task i were resolved. With one episode a task: the score interval of
    Wilson (1927, JASA 22:209). With several: Wilson's at the effective sample size p(1-p)/SE^2, SE being the
    cluster-robust error of an intercept-only regression (Liang and Zeger 1986), made smaller by the ratio of normal
    to t quantiles, and at most the number of episodes: Korn and Graubard (1998, Survey Methodology 24:193), found
    best for proportions in clusters by Franco et al. (2019, J. Survey Statistics and Methodology 7:334). Where all
    tasks agree (rate 0 or 1, so SE 0) a task counts as one episode.
    """
    pairs = [(r, n) for r, n in zip(resolved, counted, strict=True) if n > 0]
    total = sum(n for _, n in pairs)
    if total == 0:
        return Rate(None, None, None)
    share = sum(r for r, _ in pairs) / total
    size = float(total) if total == len(pairs) else _effective_size(pairs, share, total)
    return _wilson(share, size)


def _wilson(share: float, size: float) -> Rate:
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(share * size, size, alpha=ALPHA, method="wilson")
    # Rounding must not push the end of the interval past the rate itself.
    return Rate(share, min(share, max(0.0, float(low))), max(share, min(1.0, float(high))))


def _effective_size(pairs: Sequence[tuple[float, int]], share: float, total: int) -> float:
    import numpy
    from scipy.stats import norm, t
    from statsmodels.regression.linear_model import WLS

    tasks = len(pairs)
    if tasks == 1 or share in (0.0, 1.0):
        return float(tasks)
    shares = numpy.array([r / n for r, n in pairs])
    # A row per task, weighted by its episodes: the same error as clustering a row per episode, for less.
    fit = WLS(shares, numpy.ones(tasks), weights=[n for _, n in pairs]).fit(cov_type="HC1")
    error = float(fit.bse[0])
    if error == 0.0:  # every task has the very same share
        return float(total)
    smaller = norm.ppf(1 - ALPHA / 2) / t.ppf(1 - ALPHA / 2, tasks - 1)
    return min(float(total), float(share * (1 - share) / error**2 * smaller**2))


def reliability(resolved: Sequence[int], counted: Sequence[int], k: int) -> Reliability:
    """pass@k and all-k from `resolved[i]` of `counted[i]` attempts at task i; tasks with fewer than k are left out.

    Unbiased: pass@k is the mean over tasks of 1 - C(n-c, k) / C(n, k), with c of n attempts resolved (Chen et al.
    2021, arXiv:2107.03374, equation 1); all-k that of C(c, k) / C(n, k) (Yao et al. 2024, arXiv:2406.12045, pass^k).
    Intervals as for `rate`, a task being one cluster.
    Raises `ValueError` for a k below 1.
    """
    if k < 1:
        raise ValueError(f"k is {k}: it counts attempts and starts at 1")
    pairs = [(c, n) for c, n in zip(resolved, counted, strict=True) if n >= k]
    some = [1 - math.comb(n - c, k) / math.comb(n, k) for c, n in pairs]
    every = [math.comb(c, k) / math.comb(n, k) for c, n in pairs]
    episodes = sum(n for _, n in pairs)
    return Reliability(k, len(pairs), _mean_of_shares(some, episodes), _mean_of_shares(every, episodes))


def _mean_of_shares(shares: list[float], episodes: int) -> Rate:
    if not shares:
        return Rate(None, None, None)
    share = sum(shares) / len(shares)
    if episodes == len(shares):
        return _wilson(share, episodes)
    return _wilson(share, _effective_size([(one, 1) for one in shares], share, episodes))


def cost_per_resolved(costs: Sequence[float], resolved: Sequence[int]) -> Cost:
    """The ratio of what all episodes cost to how many were resolved; `costs[i]` dollars bought `resolved[i]` on task i.

    Interval for a ratio of means over tasks: Fieller (1954, J. Royal Statistical Society B 16:175), with t quantiles.
    Below two tasks there is none.
    """
    solved = sum(resolved)
    if not solved:
        return Cost(None, None, None)
    n, ratio = len(costs), sum(costs) / solved
    if ratio == 0:
        return Cost(0.0, 0.0, 0.0)  # what needs no model costs nothing, however little it resolves
    if n < 2:
        return Cost(ratio, None, None)
    import numpy
    from scipy.stats import t

    covariance = numpy.cov(numpy.array([costs, resolved], dtype=float)) / n
    mean_cost, mean_solved = sum(costs) / n, solved / n
    reach = float(t.ppf(1 - ALPHA / 2, n - 1)) ** 2
    # The ratios R for which mean_cost - R mean_solved is no further from 0 than chance allows: a R^2 - 2 b R + c <= 0.
    a = mean_solved**2 - reach * float(covariance[1, 1])
    b = mean_cost * mean_solved - reach * float(covariance[0, 1])
    c = mean_cost**2 - reach * float(covariance[0, 0])
    root = math.sqrt(max(0.0, b * b - a * c))
    if a <= 0:
        # Nobody knows that more than 0 are resolved, so no cost is too high.
        return Cost(ratio, max(0.0, (b - root) / a) if a < 0 and c > 0 else 0.0, None)
    return Cost(ratio, max(0.0, (b - root) / a), (b + root) / a)


def rank_ranges(rates: Sequence[Rate]) -> list[tuple[int, int] | None]:
    """The best and the worst rank that each rate can have: entrants whose intervals overlap tie.

    None for one without a rate. The best rank is one more than the number of those wholly above.
    """
    known = [r for r in rates if r.low is not None]
    ranges: list[tuple[int, int] | None] = []
    for one in rates:
        if one.low is None or one.high is None:
            ranges.append(None)
            continue
        above = sum(1 for other in known if other.low is not None and other.low > one.high)
        below = sum(1 for other in known if other.high is not None and other.high < one.low)
        ranges.append((above + 1, len(known) - below))
    return ranges
