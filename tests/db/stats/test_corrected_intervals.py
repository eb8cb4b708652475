"""An interval leaves 0 out if and only if the corrected test finds a difference, whatever the number of comparisons."""

from __future__ import annotations

import random

import pytest

from stackrank.db.queries.comparisons.changes import change_sentence, correct_changes
from stackrank.db.stats import ALPHA, RunScores, compare_with_baseline, effort, holm, holm_levels, paired_difference

LEVELS = (ALPHA, ALPHA / 3, ALPHA / 45, ALPHA / 1225)


def test_an_alone_comparison_keeps_its_level() -> None:
    assert holm_levels([]) == []
    assert holm_levels([0.9]) == [ALPHA]
    assert holm_levels([0.2, 0.001, 0.3]) == pytest.approx([0.025, ALPHA / 3, 0.025])


@pytest.mark.parametrize("seed", range(50))
def test_levels_decide_as_the_corrected_p_values(seed: int) -> None:
    dice = random.Random(seed)
    p_values = [dice.random() ** dice.choice([1, 4, 8]) for _ in range(dice.randint(1, 30))]
    decided = [p < level for p, level in zip(p_values, holm_levels(p_values), strict=True)]
    assert decided == [p < ALPHA for p in holm(p_values)]


def _shares(dice: random.Random, tasks: int, attempts: int, *, whole: bool) -> list[tuple[float, int]]:
    chance = dice.choice([0.05, 0.4, 0.9])
    return [
        (sum((dice.random() < chance) if whole else dice.random() * chance for _ in range(attempts)), attempts)
        for _ in range(tasks)
    ]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("attempts", [1, 3])
@pytest.mark.parametrize("whole", [True, False])
def test_intervals_of_rates_follow_the_test(level: float, attempts: int, whole: bool) -> None:
    dice, clear = random.Random(attempts), 0
    for tasks in (1, 4, 8, 20, 60):
        for _ in range(4):
            sides = [_shares(dice, tasks, attempts, whole=whole) for _ in range(2)]
            usual, difference = paired_difference(*sides), paired_difference(*sides, alpha=level)
            assert difference.low is not None and difference.high is not None and difference.p_value is not None
            assert usual.low is not None and usual.high is not None and difference.difference is not None
            assert (difference.low <= 0 <= difference.high) == (difference.p_value >= level)
            assert -1 <= difference.low <= difference.difference <= difference.high <= 1
            if difference.p_value < level or usual.p_value == pytest.approx(1):
                assert difference.high - difference.low >= usual.high - usual.low - 1e-6, "no narrower"
            if difference.uplift_low is not None and difference.uplift is not None:
                over = difference.uplift_low <= 0 <= (difference.uplift_high or float("inf"))
                assert over == (difference.p_value >= level)
            clear += difference.p_value < level
    assert clear, "some differences are clear"


@pytest.mark.parametrize("level", LEVELS)
def test_intervals_of_effort_follow_the_test(level: float) -> None:
    dice, clear = random.Random(1), 0
    for tasks in (3, 9, 20, 60):
        for factor in (1.0, 1.4, 3.0):
            first = [dice.uniform(5, 30) for _ in range(tasks)]
            second = [min(50.0, factor * dice.uniform(5, 30)) for _ in range(tasks)]
            saved = effort(first, second, 50, alpha=level)
            assert saved.low is not None and saved.high is not None and saved.p_value is not None
            assert (saved.low <= 0 <= saved.high) == (saved.p_value >= level)
            clear += saved.p_value < level
    assert clear


@pytest.mark.parametrize("alpha", [0.05, 0.001, 0.2])
def test_intervals_of_changes_follow_the_test(alpha: float) -> None:
    dice, said = random.Random(2), set()
    for _ in range(30):
        drops = [dice.choice([0.0, 0.1, 0.3, 0.7]) for _ in range(dice.randint(1, 6))]
        changes = []
        for drop in drops:
            chances = [dice.choice([0.1, 0.9]) for _ in range(30)]
            nights = [
                [(int(dice.random() < max(0.0, chance - loss)), 1) for chance in chances] for loss in (0, 0, drop)
            ]
            change = compare_with_baseline([RunScores(night) for night in nights[:-1]], nights[-1])
            assert change is not None
            changes.append(change)
        for row in correct_changes(changes):
            assert (row["holm_low"] <= 0 <= row["holm_high"]) == (row["p_value"] >= ALPHA)
            sentence = change_sentence(row, "x", alpha=alpha)
            ends = [float(end) for end in sentence.split(" points (")[1].split(")")[0].split(" to ")]
            assert sentence.startswith("No clear") == (row["p_value"] >= alpha or not row["difference"])
            if row["p_value"] >= alpha:
                assert ends[0] <= 0 <= ends[1]
            else:
                assert ends[0] >= 0 or ends[1] <= 0
            said.add(sentence[:8])
    assert len(said) > 1
