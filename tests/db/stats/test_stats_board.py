"""Ranks of many entrants, errors that are not balanced, and changes over the nights of a series."""

from __future__ import annotations

import itertools

import numpy
import pytest

from stackrank.db.stats import (
    RunScores,
    compare_with_baseline,
    error_balance,
    error_bounds,
    holm,
    pair_p_values,
    paired_difference,
    rank_ranges,
    ranked_together,
)
from stackrank.db.stats.stratified import p_value

Played = list[tuple[int, int]]


def test_playing_only_easy_tasks_gives_no_rank() -> None:
    counted = numpy.ones((4, 150), int)
    counted[3, 30:] = 0
    ranked, tasks = ranked_together(counted)
    assert ranked == [True, True, True, False] and all(tasks)


def test_tasks_that_few_played_are_left_out() -> None:
    counted = numpy.ones((5, 150), int)
    counted[1:, 75:] = 0
    ranked, tasks = ranked_together(counted)
    assert all(ranked) and sum(tasks) == 75


def test_two_halves_without_a_common_task_are_not_ranked_together() -> None:
    counted = numpy.zeros((5, 100), int)
    counted[:3, :50] = 1
    counted[3:, 50:] = 1
    assert ranked_together(counted)[0] == [True] * 3 + [False] * 2


def test_a_few_errors_do_not_cost_a_rank() -> None:
    dice = numpy.random.default_rng(1)
    ranked, tasks = ranked_together((dice.random((10, 150)) > 0.05).astype(int))
    assert all(ranked) and all(tasks)


def test_ranks_follow_the_paired_test() -> None:
    """Overlapping intervals of 60% and 50%, and yet a clear difference, task by task."""
    resolved = numpy.zeros((3, 150), int)
    resolved[0, :90], resolved[1, :75], resolved[2, :74] = 1, 1, 1
    assert rank_ranges(resolved, numpy.ones((3, 150), int)) == [(1, 1), (2, 3), (2, 3)]


def test_ranks_are_corrected_over_the_board() -> None:
    """Six tasks more, none less: p = 0.03 alone, and nothing among five."""
    resolved = numpy.zeros((5, 40), int)
    resolved[0, :26], resolved[1:, :20] = 1, 1
    ones = numpy.ones((5, 40), int)
    assert rank_ranges(resolved[:2], ones[:2]) == [(1, 1), (2, 2)]
    assert rank_ranges(resolved, ones) == [(1, 5)] * 5


@pytest.mark.parametrize("attempts", [1, 3])
def test_ranks_never_contradict_a_comparison(attempts: int) -> None:
    dice = numpy.random.default_rng(attempts)
    chances = dice.beta(0.9, 1.1, 60) * numpy.linspace(0.1, 1, 8)[:, None]
    counted = dice.binomial(attempts, 0.97, chances.shape)
    resolved = dice.binomial(counted, chances)
    ranges = rank_ranges(resolved, counted)
    p_values = pair_p_values(resolved, counted)
    assert {best for best, _ in ranges} != {1}, "some are told apart"
    for (a, b), p in zip(p_values, holm(list(p_values.values())), strict=True):
        sides: list[Played] = [list(zip(resolved[n].tolist(), counted[n].tolist(), strict=True)) for n in (a, b)]
        difference = paired_difference(*sides)
        below, above = ranges[b][0] > ranges[a][1], ranges[a][0] > ranges[b][1]
        if below or above:
            assert difference.p_value < 0.05 and (difference.difference < 0) == below
        if p < 0.05:
            best_of_worse = ranges[b if difference.difference < 0 else a][0]
            assert best_of_worse > 1


def test_bounds_of_errors() -> None:
    assert error_bounds([]) is None and error_bounds([(0, 0, 0)]) is None
    assert error_bounds([(1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 2, 2)]) == (0.3125, 0.6875)


def test_the_stratified_test_is_fishers_of_one_table() -> None:
    from scipy.stats import fisher_exact

    for a, n, b, m in itertools.product((0, 2, 5), (5,), (0, 3, 9), (9,)):
        p_less, p_greater = (fisher_exact([[a, n - a], [b, m - b]], side).pvalue for side in ("less", "greater"))
        assert p_value([(a, n)], [(b, m)]) == pytest.approx(min(1.0, 2 * min(p_less, p_greater)))


def test_the_stratified_test_against_shuffled_tables() -> None:
    dice = numpy.random.default_rng(3)
    first, second = dice.binomial(1, 0.4, 40), dice.binomial(4, 0.6, 40)
    mine = p_value([(int(n), 1) for n in first], [(int(n), 4) for n in second])
    sums = dice.hypergeometric(first + second, 5 - first - second, 1, (100_000, 40)).sum(axis=1)
    tail = min((sums <= first.sum()).mean(), (sums >= first.sum()).mean())
    assert mine == pytest.approx(2 * tail, rel=0.05, abs=0.001) and 0.0001 < mine < 0.5


def test_errors_of_one_entrant_only_are_not_balanced() -> None:
    episodes = numpy.ones((4, 150), int)
    errors = numpy.zeros((4, 150), int)
    errors[1, :39] = 1
    p_values = error_balance(errors, episodes)
    assert p_values[1] < 1e-6
    even = numpy.random.default_rng(5).binomial(1, 0.1, (4, 150))
    assert min(error_balance(even, episodes)) > 0.05
    assert error_balance(numpy.zeros((2, 9), int), numpy.ones((2, 9), int)) == [1.0, 1.0]


def night(resolved: int, tasks: int = 60, attempts: int = 1) -> Played:
    return [(attempts if n < resolved else 0, attempts) for n in range(tasks)]


def test_no_change_without_earlier_runs() -> None:
    assert compare_with_baseline([], night(10)) is None
    assert compare_with_baseline([RunScores(night(10), worse=True)], night(10)) is None, "no baseline"
    assert compare_with_baseline([RunScores([(0, 0)] * 60)], night(10)) is None, "no common task"


def test_one_night_against_another_is_the_paired_test() -> None:
    change = compare_with_baseline([RunScores(night(40))], night(32))
    assert change is not None and (change.runs, change.baseline) == (1, 1)
    assert change.p_value == pytest.approx(2 / 2**8) and change.high < 0
    assert compare_with_baseline([RunScores(night(40))], night(40)).p_value == 1


def test_a_lasting_drop_stays_out_of_the_baseline() -> None:
    history = [RunScores(night(40)) for _ in range(6)]
    for number in range(15):
        change = compare_with_baseline(history, night(32))
        assert change is not None and change.p_value < 0.05 and change.difference < 0
        assert change.rate_before == pytest.approx(40 / 60) and change.runs == min(number, 10) + 1
        history.append(RunScores(night(32), worse=True))
    recovered = compare_with_baseline(history, night(40))
    assert recovered is not None and (recovered.difference, recovered.runs, recovered.p_value) == (0, 1, 1)


def test_a_drop_too_small_for_one_night_adds_up() -> None:
    dice = numpy.random.default_rng(7)
    chances = dice.beta(4, 4, 60)

    def played(drop: float) -> Played:
        return [(int(is_resolved), 1) for is_resolved in dice.random(60) < chances - drop]

    history = [RunScores(played(0)) for _ in range(10)]
    changes = []
    for _ in range(3):
        row = played(0.2)
        changes.append(compare_with_baseline(history, row))
        history.append(RunScores(row))
    assert changes[-1].runs > 1 and changes[-1].p_value < 0.01
