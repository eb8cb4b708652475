"""The statistics, against values from elsewhere."""

from __future__ import annotations

import math
import random

import pytest
from statsmodels.stats.multitest import multipletests

from db.stats import (
    Cost,
    Rate,
    cost_per_resolved,
    detectable,
    holm,
    paired_difference,
    rank_ranges,
    rate,
    reliability,
)


def test_nothing_counted() -> None:
    assert rate([], []) == Rate(None, None, None)
    assert rate([0, 0], [0, 0]) == Rate(None, None, None)
    assert paired_difference([], []).p_value is None
    assert paired_difference([(0, 0)], [(1, 1)]).tasks == 0
    assert detectable([]) is None and detectable([0.5]) is None
    assert holm([]) == [] and rank_ranges([]) == []


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
    found = rate([1] * resolved + [0] * (counted - resolved), [1] * counted)
    assert found.rate == resolved / counted
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def test_several_attempts_against_the_textbook_sum() -> None:
    counted, resolved = [3] * 10, [3, 3, 2, 1, 0, 0, 3, 1, 2, 0]
    p, n, groups = 0.5, 30, 10
    # Cochran 1977, section 3.12, with the small-sample factors of the sandwich estimator.
    variance = sum((r - 3 * p) ** 2 for r in resolved) / n**2 * groups / (groups - 1) * (n - 1) / (n - 1)
    size = p * (1 - p) / variance * (1.959964 / 2.262157) ** 2
    z = 1.959964
    half = z / (1 + z**2 / size) * math.sqrt(p * (1 - p) / size + z**2 / (4 * size**2))
    found = rate(resolved, counted)
    assert found.rate == 0.5
    assert found.high == pytest.approx(0.5 + half, abs=1e-3)
    assert found.low == pytest.approx(0.5 - half, abs=1e-3)


def test_several_attempts_against_a_regression_on_episodes() -> None:
    import numpy
    from scipy.stats import t
    from statsmodels.regression.linear_model import OLS

    resolved, counted = [2, 0, 4, 1, 1, 3, 0], [3, 1, 4, 2, 5, 3, 2]
    outcomes = numpy.concatenate([[1.0] * r + [0.0] * (n - r) for r, n in zip(resolved, counted, strict=True)])
    fit = OLS(outcomes, numpy.ones(20)).fit(cov_type="cluster", cov_kwds={"groups": numpy.repeat(range(7), counted)})
    p, error = outcomes.mean(), fit.bse[0]
    size = min(20, p * (1 - p) / error**2 * (1.959964 / t.ppf(0.975, 6)) ** 2)
    z = 1.959964
    centre, half = (p + z**2 / (2 * size)), z * math.sqrt(p * (1 - p) / size + z**2 / (4 * size**2))
    found = rate(resolved, counted)
    assert found.low == pytest.approx((centre - half) / (1 + z**2 / size), abs=1e-6)
    assert found.high == pytest.approx((centre + half) / (1 + z**2 / size), abs=1e-6)


def test_attempts_at_one_task_are_worth_less_than_tasks() -> None:
    alike = rate([3] * 5 + [0] * 5, [3] * 10)
    mixed = rate([2, 1] * 5, [3] * 10)
    wilson_30 = rate([1] * 15 + [0] * 15, [1] * 30)
    assert alike.high - alike.low > 1.5 * (wilson_30.high - wilson_30.low)
    assert mixed.high - mixed.low == pytest.approx(wilson_30.high - wilson_30.low, rel=0.05)


@pytest.mark.parametrize(("resolved", "counted"), [([3, 3], [3, 3]), ([0] * 4, [2] * 4), ([2], [3]), ([1], [1])])
def test_intervals_are_never_empty_at_the_edge(resolved: list[int], counted: list[int]) -> None:
    found = rate(resolved, counted)
    assert 0 <= found.low <= found.rate <= found.high <= 1
    assert found.high - found.low > 0.3


def test_mcnemar() -> None:
    # 1 against 8 discordant tasks: twice the tail of a binomial, (1 + 9) / 2^9 * 2.
    first = [(1, 1)] * 5 + [(0, 1)] * 15
    second = [(1, 1)] * 4 + [(0, 1)] + [(1, 1)] * 8 + [(0, 1)] * 7
    found = paired_difference(first, second)
    assert (found.test, found.tasks, found.only_first, found.only_second) == ("mcnemar", 20, 1, 8)
    assert found.p_value == pytest.approx(20 / 2**9)
    assert found.difference == pytest.approx(0.35)
    assert found.low < 0.35 < found.high and found.low > 0
    assert paired_difference(first, first).p_value == 1


def test_permutation_of_few_tasks_is_exact() -> None:
    found = paired_difference([(0, 3)] * 4, [(1, 3), (2, 3), (3, 3), (1, 3)])
    assert found.test == "permutation"
    assert found.p_value == pytest.approx(2 / 2**4)
    assert paired_difference([(1, 3)] * 4, [(1, 3)] * 4).p_value == 1


@pytest.mark.parametrize("attempts", [3, 90])  # few sizes of gaps, and many
def test_permutation_of_many_tasks_is_scipys(attempts: int) -> None:
    import numpy
    from scipy.stats import permutation_test

    dice = random.Random(8)
    first = [(dice.randint(attempts // 3, 2 * attempts // 3), attempts) for _ in range(80)]
    second = [(r + dice.randint(-(attempts // 3), attempts // 3 + 1), attempts) for r, _ in first]
    found = paired_difference(first, second)
    gaps = numpy.array([(b - a) / attempts for (a, _), (b, _) in zip(first, second, strict=True)])
    theirs = permutation_test(
        (gaps,), numpy.mean, permutation_type="samples", n_resamples=30_000, vectorized=True, batch=1000, rng=1
    )
    assert found.p_value is not None and 0.001 < theirs.pvalue < 0.95
    assert found.p_value == pytest.approx(theirs.pvalue, abs=0.02)


@pytest.mark.parametrize("attempts", [3, 50])
def test_both_ways_of_resampling_are_one(attempts: int) -> None:
    dice = random.Random(5)
    first = [(dice.randint(0, attempts), attempts) for _ in range(150)]
    second = [(min(attempts, r + dice.randint(0, attempts // 3)), attempts) for r, _ in first]
    found = paired_difference(first, second)
    gaps = [(b - a) / attempts for (a, _), (b, _) in zip(first, second, strict=True)]
    mean = sum(gaps) / 150
    error = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / 149 / 150)
    assert found.low == pytest.approx(mean - 1.96 * error, abs=0.004)
    assert found.high == pytest.approx(mean + 1.96 * error, abs=0.004)


def test_bootstrap_is_seeded_and_close_to_the_normal_interval() -> None:
    dice = random.Random(1)
    first = [(dice.randint(0, 3), 3) for _ in range(200)]
    second = [(min(3, r + dice.randint(0, 1)), 3) for r, _ in first]
    one, again = (paired_difference(first, second, seed=5) for _ in range(2))
    assert one == again
    gaps = [b[0] / 3 - a[0] / 3 for a, b in zip(first, second, strict=True)]
    mean = sum(gaps) / 200
    error = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / 199 / 200)
    assert one.low == pytest.approx(mean - 1.96 * error, abs=0.01)
    assert one.high == pytest.approx(mean + 1.96 * error, abs=0.01)


def test_equal_gaps_are_no_certainty() -> None:
    same = paired_difference([(1, 1)] * 20, [(1, 1)] * 20)
    assert same.difference == 0 and same.low < -0.05 and same.high > 0.05
    always = paired_difference([(0, 1)] * 3, [(1, 1)] * 3)
    assert always.difference == 1 and always.low < 0.5 and always.high == 1
    alone = paired_difference([(0, 1)], [(1, 1)])
    assert alone.p_value == 1 and alone.low < 0


def test_detectable_against_the_usual_formula() -> None:
    gaps = [1.0] * 30 + [-1.0] * 20 + [0.0] * 250
    spread = math.sqrt(sum((gap - 10 / 300) ** 2 for gap in gaps) / 299)
    assert detectable(gaps) == pytest.approx((1.95996 + 0.84162) * spread / math.sqrt(300), rel=0.01)
    assert detectable([0.0] * 10) == 0
    assert detectable([1.0, -1.0]) == 1


def test_holm() -> None:
    # Holm 1979: the smallest times 3, the next times 2, never going down.
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    dice = random.Random(3)
    for size in (1, 2, 7, 40):
        values = [dice.choice([dice.random(), 0.01, 1.0]) for _ in range(size)]
        assert holm(values) == pytest.approx(list(multipletests(values, method="holm")[1]))


def test_ranks_of_overlapping_intervals_tie() -> None:
    rates = [Rate(0.9, 0.8, 1.0), Rate(0.75, 0.6, 0.85), Rate(0.3, 0.2, 0.4), Rate(None, None, None)]
    assert rank_ranges(rates) == [(1, 2), (1, 2), (3, 3), None]


def test_one_task_with_a_gap_is_no_evidence() -> None:
    assert paired_difference([(1, 3), (2, 3)], [(1, 3), (3, 3)]).p_value == 1


def test_uplift() -> None:
    first = [(1, 1)] * 40 + [(0, 1)] * 60
    second = [(1, 1)] * 36 + [(0, 1)] * 4 + [(1, 1)] * 16 + [(0, 1)] * 44
    found = paired_difference(first, second)
    assert found.difference == pytest.approx(0.12) and found.uplift == pytest.approx(0.3)
    # The delta method for a ratio of paired proportions (Nam and Blackwelder 2002, Statistics in Medicine 21:689):
    # the variance of the logarithm is the number of discordant tasks over the product of the two counts.
    error = math.sqrt((4 + 16) / (40 * 52))
    assert 1 + found.uplift_low == pytest.approx(1.3 * math.exp(-1.96 * error), rel=0.03)
    assert 1 + found.uplift_high == pytest.approx(1.3 * math.exp(1.96 * error), rel=0.03)


def test_uplift_over_nothing() -> None:
    nothing = paired_difference([(0, 1)] * 10, [(1, 1)] * 5 + [(0, 1)] * 5)
    assert nothing.difference == 0.5 and (nothing.uplift, nothing.uplift_low, nothing.uplift_high) == (None,) * 3
    hardly = paired_difference([(1, 1)] + [(0, 1)] * 19, [(1, 1)] * 6 + [(0, 1)] * 14)
    assert hardly.uplift == 5 and hardly.uplift_low is not None and hardly.uplift_high is None
    same = paired_difference([(1, 1)] * 20, [(1, 1)] * 20)
    assert same.uplift == 0 and same.uplift_low == same.low and same.uplift_high == same.high


def test_pass_at_k_against_counting() -> None:
    from itertools import combinations
    from statistics import fmean

    resolved, counted = [0, 1, 3, 5, 2], [5, 5, 5, 5, 2]
    boards = [[1] * c + [0] * (n - c) for c, n in zip(resolved, counted, strict=True)]
    for k in (1, 2, 3):
        tried = [list(combinations(board, k)) for board in boards if len(board) >= k]
        found = reliability(resolved, counted, k)
        assert found.tasks == len(tried)
        assert found.pass_at_k.rate == pytest.approx(fmean(fmean(any(draw) for draw in one) for one in tried))
        assert found.all_k.rate == pytest.approx(fmean(fmean(all(draw) for draw in one) for one in tried))
        assert found.all_k.low <= found.all_k.rate <= found.pass_at_k.rate <= found.pass_at_k.high
    single = rate([1, 0, 0, 1], [1] * 4)
    assert reliability([1, 0, 0, 1], [1] * 4, 1).pass_at_k == reliability([1, 0, 0, 1], [1] * 4, 1).all_k == single
    assert reliability([1], [2], 3).pass_at_k == Rate(None, None, None)
    with pytest.raises(ValueError, match="starts at 1"):
        reliability([1], [1], 0)


def test_cost_of_what_was_resolved() -> None:
    assert cost_per_resolved([1.0, 2.0], [0, 0]) == Cost(None, None, None)
    assert cost_per_resolved([3.0], [2]) == Cost(1.5, None, None)
    assert cost_per_resolved([0.0] * 9, [1] + [0] * 8) == Cost(0.0, 0.0, 0.0)
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
    found = cost_per_resolved(costs, resolved)
    for end in (found.low, found.high):
        gaps = [c - end * r for c, r in zip(costs, resolved, strict=True)]
        assert ttest_1samp(gaps, 0).pvalue == pytest.approx(0.05)
