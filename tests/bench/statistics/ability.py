"""Estimated abilities and difficulties against the truth, also across entrants with different tasks."""

from __future__ import annotations

import numpy
from scipy.special import expit

from stackrank.db.stats.abilities import fit_abilities
from tests.bench.statistics import Line, share

TRUTH = numpy.array([-1.5, -0.5, 0.0, 0.4, 1.2, 2.0])
TASKS, SPREAD = 120, 2.0


def table(simulations: int) -> list[Line]:
    """Six entrants on 120 tasks: complete, with halves that two entrants link, and with tasks alike in families."""
    boards = max(20, simulations // 10)
    complete = numpy.ones((6, TASKS), int)
    halves = complete.copy()
    halves[:2, TASKS // 2 :], halves[2:4, : TASKS // 2] = 0, 0
    lines = []
    for name, counted, family in (
        ("all tasks x 1", complete, 0.0),
        ("all tasks x 3", 3 * complete, 0.0),
        ("halves x 1, two link them", halves, 0.0),
        ("all tasks x 1, families of 4 alike", complete, 1.5),
    ):
        lines += _lines(name, counted, family, boards)
    return lines


def _lines(name: str, counted: numpy.ndarray, family: float, boards: int) -> list[Line]:
    dice, covered, rates, gap_errors, fits = numpy.random.default_rng(41), 0, 0, [], []
    clusters = [str(place // 4) for place in range(TASKS)] if family else []
    for _ in range(boards):
        family_effect = numpy.repeat(dice.normal(0, family, TASKS // 4), 4)
        difficulty = dice.normal(0, (SPREAD**2 - family**2) ** 0.5, TASKS) + family_effect
        chances = expit(TRUTH[:, None] - difficulty)
        estimate = fit_abilities(dice.binomial(counted, chances), counted, clusters)
        covered += sum(
            entrant.low <= truth <= entrant.high for entrant, truth in zip(estimate.entrants, TRUTH, strict=True)
        )
        rates += sum(
            entrant.rate_low <= truth <= entrant.rate_high
            for entrant, truth in zip(estimate.entrants, expit(TRUTH[:, None] - difficulty).mean(axis=1), strict=True)
        )
        gap_errors.append(estimate.entrants[5].ability - estimate.entrants[0].ability - 3.5)
        fits += [entrant.infit for entrant in estimate.entrants]
    bias, fit = float(numpy.mean(gap_errors)), float(numpy.mean(fits))
    return [
        share(f"ability covered: {name}", covered, 6 * boards, at_least=0.93),
        share(f"rate over all tasks covered: {name}", rates, 6 * boards, at_least=0.93),
        Line(f"bias of a difference of 3.5 logits: {name}", f"{bias:+.2f}", "within 0.2", abs(bias) < 0.2),
        Line(f"mean infit where the model is true: {name}", f"{fit:.2f}", "0.9 to 1.1", 0.9 <= fit <= 1.1),
    ]
