"""The statistics, against values from elsewhere."""

from __future__ import annotations

import random

import pytest

from stackrank.db.stats import (
    CostEstimate,
    Rate,
    cost_per_resolved,
    holm,
    rate,
    reliability,
)
from stackrank.db.stats.rates import t_quantile


def test_statistics_of_no_counted_episodes() -> None:
    assert rate([], []) == Rate(None, None, None)
    assert rate([0, 0], [0, 0]) == Rate(None, None, None)
    assert holm([]) == []


@pytest.mark.parametrize(
    ("resolved", "counted", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17:857, table I, method 3 (Wilson's score).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_one_attempt_is_wilsons_interval(resolved: int, counted: int, low: float, high: float) -> None:
    estimate = rate([1] * resolved + [0] * (counted - resolved), [1] * counted)
    assert estimate.rate == resolved / counted
    assert (estimate.low, estimate.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


@pytest.mark.parametrize("size", [1, 2, 3, 17, 80, 400])
def test_quantiles_and_intervals_are_those_of_the_libraries(size: int) -> None:
    from scipy.stats import t
    from statsmodels.stats.proportion import proportion_confint

    dice = random.Random(size)
    for probability in (0.025, 0.3, 0.975, 0.999):
        assert t_quantile(probability, size) == pytest.approx(t.ppf(probability, size), rel=1e-10)
    resolved = dice.randint(0, size)
    low, high = proportion_confint(resolved, size, method="wilson")
    estimate = rate([1] * resolved + [0] * (size - resolved), [1] * size)
    assert (estimate.low, estimate.high) == (pytest.approx(low, abs=1e-12), pytest.approx(high, abs=1e-12))


def test_several_attempts_against_a_regression_on_tasks() -> None:
    """The regression on nothing but a mean, with two tasks more of either kind, has the error that is used."""
    import numpy
    from scipy.stats import t
    from statsmodels.regression.linear_model import WLS
    from statsmodels.stats.proportion import proportion_confint

    resolved, counted = [2, 0, 4, 1, 1, 3, 0], [3, 1, 4, 2, 5, 3, 2]
    shares = numpy.array([r / n for r, n in zip(resolved, counted, strict=True)])
    smoothed = numpy.concatenate([shares, [1, 1, 0, 0]])
    fit = WLS(smoothed, numpy.ones(len(smoothed))).fit(cov_type="HC0")
    p, error = fit.params[0], fit.bse[0]
    per_task = p * (1 - p) / (error**2 * len(smoothed))
    size = min(49 / sum(1 / n for n in counted), 6 * per_task * (1.959964 / t.ppf(0.975, 6)) ** 2)
    low, high = proportion_confint(shares.mean() * size, size, method="wilson")
    estimate = rate(resolved, counted)
    assert estimate.rate == pytest.approx(shares.mean())
    assert (estimate.low, estimate.high) == (pytest.approx(low, abs=1e-6), pytest.approx(high, abs=1e-6))


def test_tasks_weigh_the_same_however_often_they_were_played() -> None:
    """An entrant that replays the hard half five times is no worse for it."""
    once = rate([1] * 5 + [0] * 5, [1] * 10)
    assert rate([1] * 5 + [0] * 5, [1] * 5 + [5] * 5).rate == once.rate == 0.5


@pytest.mark.parametrize(("tasks", "attempts"), [(150, 5), (40, 2), (300, 10)])
def test_the_interval_does_not_narrow_from_0_resolved_to_1(tasks: int, attempts: int) -> None:
    unresolved, once_resolved = (rate([n] + [0] * (tasks - 1), [attempts] * tasks) for n in (0, 1))
    assert (
        unresolved.high - unresolved.low < once_resolved.high - once_resolved.low
        and unresolved.high < once_resolved.high
    )


def test_attempts_at_one_task_are_worth_less_than_tasks() -> None:
    identical = rate([3] * 50 + [0] * 50, [3] * 100)
    mixed = rate([3, 2, 2, 1, 1, 2, 1, 0] * 25, [3] * 200)
    wilson_300, wilson_600 = (rate([1] * n + [0] * n, [1] * 2 * n) for n in (150, 300))
    assert identical.high - identical.low > 1.5 * (wilson_300.high - wilson_300.low)
    assert mixed.high - mixed.low == pytest.approx(wilson_600.high - wilson_600.low, rel=0.05)


@pytest.mark.parametrize(("resolved", "counted"), [([3, 3], [3, 3]), ([0] * 4, [2] * 4), ([2], [3]), ([1], [1])])
def test_intervals_are_never_empty_at_the_edge(resolved: list[int], counted: list[int]) -> None:
    estimate = rate(resolved, counted)
    assert 0 <= estimate.low <= estimate.rate <= estimate.high <= 1
    assert estimate.high - estimate.low > 0.3


def test_holm() -> None:
    from statsmodels.stats.multitest import multipletests

    # Holm 1979: the smallest times 3, the next times 2, never going down.
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    dice = random.Random(3)
    for size in (1, 2, 7, 40):
        values = [dice.choice([dice.random(), 0.01, 1.0]) for _ in range(size)]
        assert holm(values) == pytest.approx(list(multipletests(values, method="holm")[1]))


def test_pass_at_k_against_counting() -> None:
    from itertools import combinations
    from statistics import fmean

    resolved, counted = [0, 1, 3, 5, 2], [5, 5, 5, 5, 2]
    boards = [[1] * c + [0] * (n - c) for c, n in zip(resolved, counted, strict=True)]
    for k in (1, 2, 3):
        tried = [list(combinations(board, k)) for board in boards if len(board) >= k]
        estimate = reliability(resolved, counted, k)
        assert estimate.tasks == len(tried)
        assert estimate.pass_at_k.rate == pytest.approx(fmean(fmean(any(draw) for draw in draws) for draws in tried))
        assert estimate.all_k.rate == pytest.approx(fmean(fmean(all(draw) for draw in draws) for draws in tried))
        assert estimate.all_k.low <= estimate.all_k.rate <= estimate.pass_at_k.rate <= estimate.pass_at_k.high
    single = rate([1, 0, 0, 1], [1] * 4)
    assert reliability([1, 0, 0, 1], [1] * 4, 1).pass_at_k == reliability([1, 0, 0, 1], [1] * 4, 1).all_k == single
    assert reliability([1], [2], 3).pass_at_k == Rate(None, None, None)
    with pytest.raises(ValueError, match="starts at 1"):
        reliability([1], [1], 0)


def test_cost_per_resolved_episode() -> None:
    assert cost_per_resolved([1.0, 2.0], [0, 0]) == CostEstimate(None, None, None)
    assert cost_per_resolved([3.0], [2]) == CostEstimate(1.5, None, None)
    assert cost_per_resolved([0.0] * 9, [1] + [0] * 8) == CostEstimate(0.0, 0.0, 0.0)
    # Each resolved task costs the same: no doubt about the ratio.
    exact = cost_per_resolved([2.0, 4.0, 6.0, 4.0, 4.0], [1, 2, 3, 2, 2])
    assert (exact.cost, exact.low, exact.high) == (2.0, pytest.approx(2.0), pytest.approx(2.0))
    rare = cost_per_resolved([1.0, 1.2, 0.9, 1.1], [0, 0, 1, 0])
    assert rare.cost == pytest.approx(4.2) and 0 < rare.low < 4.2 and rare.high is None


def test_the_interval_of_a_cost_is_where_a_t_test_stops_rejecting() -> None:
    from scipy.stats import ttest_1samp

    dice = random.Random(4)
    resolved = [dice.randint(0, 3) for _ in range(30)]
    costs = [0.3 + 0.1 * r + dice.random() for r in resolved]
    estimate = cost_per_resolved(costs, resolved)
    for end in (estimate.low, estimate.high):
        gaps = [c - end * r for c, r in zip(costs, resolved, strict=True)]
        assert ttest_1samp(gaps, 0).pvalue == pytest.approx(0.05)
