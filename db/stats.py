"""The statistics behind a leaderboard. Pure functions of numbers; the episodes of one task are one cluster.

Errors never come in here: what is counted are resolved and unresolved episodes. SciPy and statsmodels do the work and
are imported when a function is called, since they take a second or two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

ALPHA = 0.05
"""Intervals cover 1 - ALPHA; a p-value below it is called a difference."""
_RESAMPLES = 9_999


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its 95% interval, all in 0..1; NaN-free: None where nothing was counted."""

    rate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """How far the second of two entrants is ahead of the first, in 0..1, over the tasks that both played."""

    tasks: int
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    """Two-sided. None without a task in common."""
    test: str
    """`mcnemar` (exact; one attempt a side) or `permutation` (of signs, several attempts)."""
    detectable: float | None
    """The smallest true difference that this many tasks find with 80% power; None below two tasks."""
    only_first: int
    """Tasks on which the first entrant did better."""
    only_second: int


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
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(share * size, size, alpha=ALPHA, method="wilson")
    # Rounding must not push the end of the interval past the rate itself.
    return Rate(share, min(share, max(0.0, float(low))), max(share, min(1.0, float(high))))


def _effective_size(pairs: list[tuple[int, int]], share: float, total: int) -> float:
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


def paired_difference(
    first: Sequence[tuple[int, int]], second: Sequence[tuple[int, int]], *, seed: int = 0
) -> Difference:
    """Compare two entrants on the same tasks: `(resolved, counted)` of task i on either side.

    Tasks that one side has not counted are left out. The difference is the mean over tasks of the differences of
    their rates. Interval: percentile bootstrap over tasks (Efron and Tibshirani 1993, chapter 13), seeded. Test with
    one attempt a side: exact McNemar (1947, Psychometrika 12:153); with several: permutation of the sides within
    tasks (Fisher's; Good 2005). Detectable: paired t test's power at 80% (Cohen 1988).
    """
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a[1] > 0 and b[1] > 0]
    if not pairs:
        return Difference(0, None, None, None, None, "mcnemar", None, 0, 0)
    gaps = [b[0] / b[1] - a[0] / a[1] for a, b in pairs]
    single = all(a[1] == b[1] == 1 for a, b in pairs)
    better, worse = sum(gap > 0 for gap in gaps), sum(gap < 0 for gap in gaps)
    low, high = _bootstrap(gaps, seed)
    return Difference(
        tasks=len(pairs),
        difference=sum(gaps) / len(gaps),
        low=low,
        high=high,
        p_value=_mcnemar(better, worse) if single else _permutation(gaps, seed),
        test="mcnemar" if single else "permutation",
        detectable=detectable(gaps),
        only_first=worse,
        only_second=better,
    )


def _bootstrap(gaps: list[float], seed: int) -> tuple[float, float]:
    import numpy
    from scipy.stats import bootstrap, norm

    if len(set(gaps)) == 1:
        # Equal gaps cannot be resampled, yet they are no certainty: one more task for either side, as Bonett and
        # Price (2012, J. Educational and Behavioral Statistics 37:479) have it.
        more = numpy.array([*gaps, 1.0, -1.0])
        reach = norm.ppf(1 - ALPHA / 2) * more.std() / math.sqrt(len(more))
        return max(-1.0, float(more.mean() - reach)), min(1.0, float(more.mean() + reach))
    interval = bootstrap(
        (numpy.array(gaps),),
        numpy.mean,
        n_resamples=_RESAMPLES,
        batch=256,
        confidence_level=1 - ALPHA,
        method="percentile",
        rng=numpy.random.default_rng(seed),
    ).confidence_interval
    return float(interval.low), float(interval.high)


def _mcnemar(better: int, worse: int) -> float:
    if better + worse == 0:
        return 1.0
    from statsmodels.stats.contingency_tables import mcnemar

    return float(mcnemar([[0, better], [worse, 0]], exact=True).pvalue)


def _permutation(gaps: list[float], seed: int) -> float:
    import numpy
    from scipy.stats import permutation_test

    values = numpy.array([gap for gap in gaps if gap])  # a task without a gap has none under either sign
    if len(values) == 0:
        return 1.0
    found = permutation_test(
        (values,),
        numpy.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=_RESAMPLES,
        batch=256,
        rng=numpy.random.default_rng(seed),
    )
    return float(found.pvalue)


def detectable(gaps: Sequence[float], *, power: float = 0.8) -> float | None:
    """The smallest true difference that tasks with such gaps would show with this power (paired t test, two-sided).

    None below two tasks; 0 where all gaps are equal.
    """
    if len(gaps) < 2:
        return None
    from statistics import stdev

    spread = stdev(gaps)
    if spread == 0:
        return 0.0
    from statsmodels.stats.power import TTestPower

    effect = TTestPower().solve_power(nobs=len(gaps), alpha=ALPHA, power=power, alternative="two-sided")
    # With two or three tasks the answer can be more than there is.
    return min(1.0, float(effect) * spread) if math.isfinite(float(effect)) else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of several comparisons, corrected by Holm (1979, Scandinavian J. of Statistics 6:65)."""
    if not p_values:
        return []
    from statsmodels.stats.multitest import multipletests

    return [float(p) for p in multipletests(list(p_values), alpha=ALPHA, method="holm")[1]]


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
