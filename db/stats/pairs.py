"""Two entrants on the same tasks: who is ahead, by how much, and whether it is chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from db.stats.rates import ALPHA

_RESAMPLES = 9_999
_FEW_KINDS, _BATCH = 40, 500


@dataclass(frozen=True, slots=True)
class Difference:
    """How far the second of two entrants is ahead of the first, in 0..1, over the tasks that both played."""

    tasks: int
    difference: float | None
    low: float | None
    high: float | None
    uplift: float | None
    """Relative: the second's mean rate over the first's, less 1; None where the first resolves nothing."""
    uplift_low: float | None
    uplift_high: float | None
    """None where the first resolves so little that nothing bounds the ratio."""
    p_value: float | None
    """Two-sided. None without a task in common."""
    test: str
    """`mcnemar` (exact; one attempt a side) or `permutation` (of signs, several attempts)."""
    detectable: float | None
    """The smallest true difference that this many tasks find with 80% power; None below two tasks."""
    only_first: int
    """Tasks on which the first entrant did better."""
    only_second: int


def paired_difference(
    first: Sequence[tuple[int, int]], second: Sequence[tuple[int, int]], *, seed: int = 0
) -> Difference:
    """Compare two entrants on the same tasks: `(resolved, counted)` of task i on either side.

    Tasks that one side has not counted are left out. The difference is the mean over tasks of the differences of
    their rates; the uplift is the ratio of the mean rates, less 1. Intervals of both: bootstrap over tasks from the
    same seeded resamples (Efron and Tibshirani 1993, chapter 13), so that one excludes 0 exactly when the other does;
    percentiles expanded for the number of tasks (Hesterberg 2015, American Statistician 69:371). Test with one attempt
    a side: exact McNemar (1947, Psychometrika 12:153); with several: permutation of the sides within tasks (Fisher's;
    Good 2005). Detectable: paired t test's power at 80% (Cohen 1988).
    """
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a[1] > 0 and b[1] > 0]
    if not pairs:
        return Difference(0, None, None, None, None, None, None, None, "mcnemar", None, 0, 0)
    shares = [(a[0] / a[1], b[0] / b[1]) for a, b in pairs]
    gaps = [b - a for a, b in shares]
    single = all(a[1] == b[1] == 1 for a, b in pairs)
    better, worse = sum(gap > 0 for gap in gaps), sum(gap < 0 for gap in gaps)
    base = sum(a for a, _ in shares)
    low, high, uplift_low, uplift_high = intervals(shares, seed)
    return Difference(
        tasks=len(pairs),
        difference=sum(gaps) / len(gaps),
        low=low,
        high=high,
        uplift=sum(gaps) / base if base else None,
        uplift_low=uplift_low if base else None,
        uplift_high=uplift_high if base and math.isfinite(uplift_high) else None,
        p_value=mcnemar(better, worse) if single else permutation(gaps, seed),
        test="mcnemar" if single else "permutation",
        detectable=detectable(gaps),
        only_first=worse,
        only_second=better,
    )


def intervals(shares: list[tuple[float, float]], seed: int) -> tuple[float, float, float, float]:
    """Low and high of the difference, low and high of the uplift."""
    import numpy
    from scipy.stats import norm, t

    tasks = len(shares)
    gaps = [b - a for a, b in shares]
    if len(set(gaps)) == 1:
        # Equal gaps cannot be resampled, yet they are no certainty: one more task for either side, as Bonett and
        # Price (2012, J. Educational and Behavioral Statistics 37:479) have it.
        more = numpy.array([*gaps, 1.0, -1.0])
        reach = norm.ppf(1 - ALPHA / 2) * more.std() / math.sqrt(len(more))
        low, high = max(-1.0, float(more.mean() - reach)), min(1.0, float(more.mean() + reach))
        base = sum(a for a, _ in shares) / tasks
        return (low, high, max(-1.0, low / base), high / base) if base else (low, high, -1.0, math.inf)
    first, second = _resampled(numpy.array(shares), seed)
    tail = float(norm.cdf(math.sqrt(tasks / (tasks - 1)) * t.ppf(ALPHA / 2, tasks - 1)))
    ends = [tail, 1 - tail]
    # Rounded, so that what cancels is 0 and not 1e-17.
    gap = numpy.round(second - first, 12)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        ratio = numpy.where(first > 0, gap / first, numpy.where(gap > 0, math.inf, 0.0))
    # Never a value between two resamples: those of the ratio may be infinite.
    (low, high), (up_low, up_high) = (numpy.quantile(found, ends, method="nearest") for found in (gap, ratio))
    return float(low), float(high), float(up_low), float(up_high)


def _resampled(shares: Any, seed: int) -> tuple[Any, Any]:
    """The two mean rates in each of the resamples of tasks; `shares` has a row per task."""
    import numpy

    tasks, dice = len(shares), numpy.random.default_rng(seed)
    kinds, counts = numpy.unique(shares, axis=0, return_counts=True)
    if len(kinds) <= _FEW_KINDS:
        # Shares repeat a lot: drawing how often each kind of task comes is the same resampling, and quicker.
        drawn = dice.multinomial(tasks, counts / tasks, size=_RESAMPLES)
        return drawn @ kinds[:, 0] / tasks, drawn @ kinds[:, 1] / tasks
    first, second = numpy.empty(_RESAMPLES), numpy.empty(_RESAMPLES)
    for start in range(0, _RESAMPLES, _BATCH):
        drawn = dice.integers(0, tasks, size=(min(_BATCH, _RESAMPLES - start), tasks))
        first[start : start + _BATCH] = shares[:, 0][drawn].mean(axis=1)
        second[start : start + _BATCH] = shares[:, 1][drawn].mean(axis=1)
    return first, second


def mcnemar(better: int, worse: int) -> float:
    """The exact two-sided p-value from the tasks on which either side did better."""
    if better + worse == 0:
        return 1.0
    from statsmodels.stats import contingency_tables

    return float(contingency_tables.mcnemar([[0, better], [worse, 0]], exact=True).pvalue)


def permutation(gaps: list[float], seed: int) -> float:
    """The two-sided p-value of the mean gap, were the sides of each task dealt by a coin."""
    import numpy

    values = numpy.array([gap for gap in gaps if gap])  # a task without a gap has none under either sign
    if len(values) < 2:
        return 1.0  # a single task is as likely under either sign
    if 2 ** len(values) <= _RESAMPLES:
        from scipy.stats import permutation_test

        # All signs, each once.
        return float(permutation_test((values,), numpy.mean, permutation_type="samples", vectorized=True).pvalue)
    # SciPy draws signs task by task, which takes seconds for hundreds of tasks. As there: the p-value counts what was
    # observed as one of the draws.
    as_far = numpy.abs(_signed_sums(numpy.abs(values), seed)) >= abs(values.sum()) - 1e-9
    return float((as_far.sum() + 1) / (_RESAMPLES + 1))


def _signed_sums(sizes: Any, seed: int) -> Any:
    """The sum of `sizes` under random signs, for each of the resamples."""
    import numpy

    dice = numpy.random.default_rng(seed)
    kinds, counts = numpy.unique(numpy.round(sizes, 12), return_counts=True)
    if len(kinds) <= _FEW_KINDS:
        # Sizes repeat a lot: how many of each are positive is quicker drawn.
        positive = dice.binomial(counts, 0.5, size=(_RESAMPLES, len(counts)))
        return (2 * positive - counts) @ kinds
    sums = numpy.empty(_RESAMPLES)
    for start in range(0, _RESAMPLES, _BATCH):
        part = sums[start : start + _BATCH]
        part[:] = 2 * (dice.integers(0, 2, size=(len(part), len(sizes)), dtype=bool) @ sizes) - sizes.sum()
    return sums


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
    """The p-values of several comparisons, corrected by Holm (1979, Scandinavian J. of Statistics 6:65).

    As statsmodels has it in `multipletests`, which looks for garbage at every call: a quarter of a second in a server.
    """
    corrected, floor = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        floor = max(floor, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = floor
    return corrected
