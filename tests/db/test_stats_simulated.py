"""The statistics against known truths: 2,000 simulated leaderboards each, seeded."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy
import pytest

from db.stats import cost_per_resolved, rate, reliability
from db.stats.pairs import intervals, mcnemar, permutation

BOARDS = 2_000


def share(held: Any) -> float:
    return float(numpy.mean(list(held)))


@pytest.mark.parametrize(("tasks", "attempts", "truth"), [(150, 1, 0.5), (100, 3, 0.4), (40, 5, 0.7)])
def test_the_interval_of_a_rate_covers_the_truth(tasks: int, attempts: int, truth: float) -> None:
    dice = numpy.random.default_rng(11)
    chances = dice.beta(2 * truth, 2 * (1 - truth), (BOARDS, tasks))
    found = [rate(row, [attempts] * tasks) for row in dice.binomial(attempts, chances).tolist()]
    assert 0.93 <= share(one.low <= truth <= one.high for one in found) <= 0.97


def pairs_of(dice: numpy.random.Generator, tasks: int, attempts: int, gain: float) -> tuple[Any, Any, float, float]:
    """Resolved counts of two entrants on boards of related tasks; the true difference and uplift."""
    ease = dice.beta(0.9, 1.1, (BOARDS, tasks))
    # The second mends a share of what the first misses, on some tasks, and misses as much on others where gain is 0.
    better = dice.random((BOARDS, tasks)) < 0.5
    other = numpy.where(better, ease + (1 - ease) * (0.3 + gain), ease * 0.7)
    mean, mean_other = 0.45, 0.5 * (0.45 + 0.55 * (0.3 + gain)) + 0.5 * 0.45 * 0.7
    return dice.binomial(attempts, ease), dice.binomial(attempts, other), mean_other - mean, mean_other / mean - 1


@pytest.mark.parametrize(("tasks", "attempts"), [(80, 1), (12, 2)])
def test_intervals_of_pairs_cover_the_truth(tasks: int, attempts: int) -> None:
    first, second, gap, uplift = pairs_of(numpy.random.default_rng(12), tasks, attempts, 0.3)

    @cache  # boards that differ in the order of their tasks only are one
    def of_sorted(shares: tuple[tuple[float, float], ...]) -> tuple[float, float, float, float]:
        return intervals(list(shares), 0)

    boards = zip((first / attempts).tolist(), (second / attempts).tolist(), strict=True)
    found = [of_sorted(tuple(sorted(zip(a, b, strict=True)))) for a, b in boards]
    assert 0.93 <= share(low <= gap <= high for low, high, _, _ in found) <= 0.97
    assert 0.93 <= share(low <= uplift <= high for _, _, low, high in found) <= 0.97
    for low, high, up_low, up_high in found:
        assert (low > 0) == (up_low > 0) and (high < 0) == (up_high < 0)


@pytest.mark.parametrize(("tasks", "attempts"), [(60, 1), (50, 2)])
def test_equal_entrants_are_seldom_called_different(tasks: int, attempts: int) -> None:
    dice = numpy.random.default_rng(13)
    ease = dice.beta(0.9, 1.1, (BOARDS, tasks))
    gaps = (dice.binomial(attempts, ease) - dice.binomial(attempts, ease)) / attempts
    if attempts == 1:
        of_counts = cache(mcnemar)
        found = [of_counts(int((row > 0).sum()), int((row < 0).sum())) for row in gaps]
    else:
        found = [permutation(row.tolist(), 0) for row in gaps]
    assert share(p < 0.05 for p in found) < 0.06


def test_the_interval_of_a_cost_covers_the_truth() -> None:
    dice, tasks, attempts = numpy.random.default_rng(14), 60, 3
    ease = dice.beta(1, 1.5, (BOARDS, tasks))
    resolved = dice.binomial(attempts, ease)
    # Hard tasks cost more: 0.02 dollars an attempt, and 0.08 more for what is not resolved at once.
    costs = attempts * (0.02 + 0.08 * (1 - ease)) * dice.gamma(4, 0.25, (BOARDS, tasks))
    truth = (0.02 + 0.08 * 0.6) / 0.4
    found = [cost_per_resolved(c, r) for c, r in zip(costs.tolist(), resolved.tolist(), strict=True)]
    assert 0.93 <= share(one.low <= truth and (one.high is None or truth <= one.high) for one in found) <= 0.97


def test_pass_at_k_is_unbiased() -> None:
    dice, tasks, attempts, k = numpy.random.default_rng(15), 50, 5, 3
    ease = dice.beta(1, 1, (BOARDS, tasks))
    found = [reliability(row, [attempts] * tasks, k) for row in dice.binomial(attempts, ease).tolist()]
    # Of a uniform chance: E[1 - (1-p)^3] = 3/4 and E[p^3] = 1/4.
    assert share(one.pass_at_k.rate for one in found) == pytest.approx(0.75, abs=0.005)
    assert share(one.all_k.rate for one in found) == pytest.approx(0.25, abs=0.005)
    assert 0.93 <= share(one.all_k.low <= 0.25 <= one.all_k.high for one in found) <= 0.97
    assert 0.93 <= share(one.pass_at_k.low <= 0.75 <= one.pass_at_k.high for one in found) <= 0.97
