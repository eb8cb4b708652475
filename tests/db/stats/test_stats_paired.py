"""Two entrants on the same tasks: the tests, the intervals that belong to them, and what they could find."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import numpy
import pytest

from stackrank.db.stats import detectable, mcnemar_power, pair_p_values, paired_difference, permutation_power
from stackrank.db.stats.flips import p_value
from stackrank.db.stats.score import mcnemar

Played = list[tuple[int, int]]


def single(both_resolved: int, better: int, worse: int, neither: int) -> tuple[Played, Played]:
    first = [1] * both_resolved + [0] * better + [1] * worse + [0] * neither
    second = [1] * both_resolved + [1] * better + [0] * worse + [0] * neither
    return [(n, 1) for n in first], [(n, 1) for n in second]


def test_nothing_to_compare() -> None:
    assert paired_difference([], []).p_value is None
    assert paired_difference([(0, 0)], [(1, 1)]).tasks == 0
    assert detectable([], []) is None and detectable([(1, 1)], [(0, 1)]) is None
    assert paired_difference([(1, 3), (2, 3)], [(1, 3), (3, 3)]).p_value == 1, "one task with a gap is no evidence"


def test_mcnemar_is_that_of_statsmodels() -> None:
    from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar

    for better, worse in [(0, 0), (0, 1), (3, 3), (7, 2), (40, 61), (900, 1100)]:
        theirs = their_mcnemar([[0, better], [worse, 0]], exact=True).pvalue
        assert mcnemar(better, worse) == pytest.approx(theirs, rel=1e-9)


def test_the_permutation_test_is_scipys_over_all_signs() -> None:
    from scipy.stats import permutation_test

    dice = random.Random(6)
    for size in range(2, 14):
        gaps = [dice.choice([-1.0, -1 / 3, 0.25, 2 / 3, 1.0]) for _ in range(size)]
        theirs = permutation_test((gaps,), numpy.mean, permutation_type="samples", vectorized=True).pvalue
        assert p_value(gaps, 12) == pytest.approx(theirs)


@pytest.mark.parametrize("attempts", [3, 90])  # exact, and rounded to sixtieths
def test_the_permutation_test_of_many_tasks_is_scipys(attempts: int) -> None:
    from scipy.stats import permutation_test

    dice = random.Random(8)
    first = [(dice.randint(attempts // 3, 2 * attempts // 3), attempts) for _ in range(80)]
    second = [(r + dice.randint(-(attempts // 3), attempts // 3 + 1), attempts) for r, _ in first]
    gaps = numpy.array([(b - a) / attempts for (a, _), (b, _) in zip(first, second, strict=True)])
    theirs = permutation_test(
        (gaps,), numpy.mean, permutation_type="samples", n_resamples=30_000, vectorized=True, batch=1000, rng=1
    )
    assert 0.001 < theirs.pvalue < 0.95
    assert paired_difference(first, second).p_value == pytest.approx(theirs.pvalue, abs=0.01)


def test_many_gaps_on_one_side_have_a_p_value_and_not_zero() -> None:
    assert 0 < p_value([1.0] * 400, 3) < 1e-100


def test_all_pairs_at_once_have_the_p_values_of_each_pair() -> None:
    dice = numpy.random.default_rng(2)
    counted = dice.integers(0, 4, (5, 40))
    counted[:2] = 1
    resolved = dice.binomial(counted, 0.5)
    p_values = pair_p_values(resolved, counted)
    assert len(p_values) == 10
    for (a, b), p in p_values.items():
        sides: list[Sequence[tuple[int, int]]] = [
            list(zip(resolved[entrant].tolist(), counted[entrant].tolist(), strict=True)) for entrant in (a, b)
        ]
        assert paired_difference(*sides).p_value == pytest.approx(p, rel=1e-9)
        assert paired_difference(*reversed(sides)).p_value == pytest.approx(p, rel=1e-9)


def likelihood_score(better: int, worse: int, tasks: int, difference: float) -> float:
    """Tango's statistic with the nuisance parameter found by a search."""
    from scipy.optimize import minimize_scalar

    def cost(lost: float) -> float:
        cells = [(better, lost + difference), (worse, lost), (tasks - better - worse, 1 - 2 * lost - difference)]
        return -sum(n * math.log(max(p, 1e-300)) for n, p in cells if n)

    ends = (max(0.0, -difference), (1 - difference) / 2)
    lost = minimize_scalar(cost, bounds=ends, method="bounded", options={"xatol": 1e-12}).x
    return (better - worse - tasks * difference) / math.sqrt(tasks * (2 * lost + difference * (1 - difference)))


@pytest.mark.parametrize(
    ("both_resolved", "better", "worse", "neither"), [(40, 16, 4, 40), (10, 9, 1, 10), (80, 2, 11, 7)]
)
def test_the_interval_of_the_difference_is_where_the_score_test_stops_rejecting(
    both_resolved: int, better: int, worse: int, neither: int
) -> None:
    difference = paired_difference(*single(both_resolved, better, worse, neither))
    assert difference.p_value is not None and difference.p_value < 0.05
    tasks = both_resolved + better + worse + neither
    assert likelihood_score(better, worse, tasks, difference.low) == pytest.approx(1.95996, abs=1e-3)
    assert likelihood_score(better, worse, tasks, difference.high) == pytest.approx(-1.95996, abs=1e-3)


def test_the_interval_of_the_uplift() -> None:
    difference = paired_difference(*single(36, 16, 4, 44))
    assert difference.difference == pytest.approx(0.12) and difference.uplift == pytest.approx(0.3)
    # The delta method for a ratio of paired proportions (Nam and Blackwelder 2002, Statistics in Medicine 21:689):
    # the variance of the logarithm is the number of discordant tasks over the product of the two counts.
    error = math.sqrt((4 + 16) / (40 * 52))
    assert 1 + difference.uplift_low == pytest.approx(1.3 * math.exp(-1.96 * error), rel=0.03)
    assert 1 + difference.uplift_high == pytest.approx(1.3 * math.exp(1.96 * error), rel=0.03)


def test_uplift_over_nothing() -> None:
    over_nothing = paired_difference(*single(0, 5, 0, 5))
    assert (
        over_nothing.difference == 0.5
        and (over_nothing.uplift, over_nothing.uplift_low, over_nothing.uplift_high) == (None,) * 3
    )
    several = paired_difference([(0, 2)] * 10, [(1, 2)] * 6 + [(0, 2)] * 4)
    assert several.low > 0 and (several.uplift, several.uplift_low, several.uplift_high) == (None,) * 3
    hardly = paired_difference([(1, 2)] + [(0, 2)] * 9, [(2, 2)] * 8 + [(0, 2)] * 2)
    assert hardly.uplift_low is not None and hardly.uplift_high is None


def test_four_against_none_of_twenty_is_not_significant() -> None:
    difference = paired_difference(*single(10, 4, 0, 6))
    assert difference.p_value == pytest.approx(0.125) and difference.low <= 0 < difference.high
    with_more = paired_difference(*single(8, 6, 0, 6))
    assert with_more.p_value == pytest.approx(2 / 2**6) and with_more.low > 0


@pytest.mark.parametrize("tasks", [5, 6, 12, 30])
def test_interval_and_test_agree_on_every_table(tasks: int) -> None:
    for better in range(tasks + 1):
        for worse in range(tasks + 1 - better):
            for both_resolved in {0, (tasks - better - worse) // 2, tasks - better - worse}:
                difference = paired_difference(
                    *single(both_resolved, better, worse, tasks - better - worse - both_resolved)
                )
                sure = difference.p_value < 0.05
                assert sure == (difference.low > 0 or difference.high < 0)
                assert difference.low <= difference.difference <= difference.high
                if difference.uplift is not None:
                    assert sure == (
                        difference.uplift_low > 0 or (difference.uplift_high is not None and difference.uplift_high < 0)
                    )
                    assert difference.uplift_low <= difference.uplift


@pytest.mark.parametrize(("tasks", "attempts"), [(3, 2), (6, 3), (12, 3), (14, 2), (60, 3), (25, 7)])
def test_interval_and_test_agree_with_several_attempts(tasks: int, attempts: int) -> None:
    dice = numpy.random.default_rng(tasks)
    for gain in numpy.linspace(0, 0.7, 25):
        ease = dice.beta(0.9, 1.1, tasks)
        first, second = dice.binomial(attempts, ease), dice.binomial(attempts, ease + (1 - ease) * gain)
        difference = paired_difference([(int(n), attempts) for n in first], [(int(n), attempts) for n in second])
        assert (difference.p_value < 0.05) == (difference.low > 0 or difference.high < 0)
        assert difference.low <= difference.difference <= difference.high
        if difference.uplift is not None:
            assert (difference.p_value < 0.05) == (
                difference.uplift_low > 0 or (difference.uplift_high is not None and difference.uplift_high < 0)
            )


def test_many_tasks_and_attempts_have_the_normal_interval() -> None:
    dice = random.Random(1)
    first = [(dice.randint(0, 3), 3) for _ in range(400)]
    second = [(min(3, r + dice.randint(0, 1)), 3) for r, _ in first]
    difference = paired_difference(first, second)
    gaps = numpy.array([b[0] / 3 - a[0] / 3 for a, b in zip(first, second, strict=True)])
    error = gaps.std(ddof=1) / math.sqrt(400)
    assert difference.low == pytest.approx(gaps.mean() - 1.96 * error, abs=0.003)
    assert difference.high == pytest.approx(gaps.mean() + 1.96 * error, abs=0.003)


@pytest.mark.parametrize("attempts", [1, 3])
def test_equal_gaps_keep_a_wide_interval(attempts: int) -> None:
    equal = paired_difference([(attempts, attempts)] * 20, [(attempts, attempts)] * 20)
    assert equal.difference == 0 and equal.low < -0.05 and equal.high > 0.05
    always = paired_difference([(0, attempts)] * 3, [(attempts, attempts)] * 3)
    assert always.difference == 1 and always.low <= 0 and always.high == 1
    alone = paired_difference([(0, attempts)], [(attempts, attempts)])
    assert alone.p_value == 1 and alone.low <= 0


def test_the_power_of_exact_mcnemar_against_every_outcome() -> None:
    from scipy.stats import binomtest

    tasks, difference, discordance = 20, 0.3, 0.4
    better, worse = (discordance + difference) / 2, (discordance - difference) / 2
    power = 0.0
    for up in range(tasks + 1):
        for down in range(tasks + 1 - up):
            if up + down and binomtest(up, up + down).pvalue < 0.05:
                ways = math.comb(tasks, up) * math.comb(tasks - up, down)
                power += ways * better**up * worse**down * (1 - discordance) ** (tasks - up - down)
    assert mcnemar_power(tasks, difference, discordance) == pytest.approx(power)


def test_a_detectable_difference_is_found_with_80_percent_power() -> None:
    """20 tasks of which 15% differ: a paired t test would have promised 25 points, of which McNemar finds few."""
    least = detectable(*single(10, 2, 1, 7))
    assert least is not None and 0.3 < least < 0.45
    assert mcnemar_power(20, least, 0.15) == pytest.approx(0.8, abs=0.01)
    assert mcnemar_power(20, 0.25, 0.15) < 0.5
    assert detectable(*single(2, 2, 0, 1)) is None, "five tasks are never enough"
    assert 0 < (detectable(*single(100, 0, 0, 100)) or 0) < 0.06, "nothing differed yet"


def test_the_power_with_several_attempts_is_that_of_the_test() -> None:
    dice = numpy.random.default_rng(4)
    sizes = numpy.array([0, 0, 1 / 3, 1 / 3, 2 / 3, 1])
    gaps = dice.choice(sizes, (400, 40)) * numpy.where(dice.random((400, 40)) < 0.8, 1, -1)
    truth = numpy.mean([p_value(row, 3) < 0.05 for row in gaps])
    assert permutation_power(40, float(sizes.mean()) * 0.6, sizes) == pytest.approx(truth, abs=0.08)
    assert permutation_power(40, 0.0, sizes) < 0.1 and permutation_power(4, 1.0, sizes) == 0.0
