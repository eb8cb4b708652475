"""Equated leaderboards over nights of new tasks: coverage of rates and gaps."""

from __future__ import annotations

import numpy
from scipy.special import expit

from stackrank.db.stats import gap, rate, rate_over_clusters
from stackrank.db.stats.abilities import fit_abilities
from tests.bench.statistics import Line, share

TRUTH = numpy.array([-2.0, -0.5, 0.5, 1.5])
NIGHTS, TASKS, ANCHORS = 12, 10, 60
SPREAD, BETWEEN = 1.5, 0.5


def table(simulations: int) -> list[Line]:
    """Four entrants on 12 nights of ten tasks and 60 fixed tasks; two of them played half of the nights only."""
    boards = max(20, simulations // 10)
    dice, equated, gaps = numpy.random.default_rng(43), 0, 0
    night = numpy.repeat(numpy.arange(NIGHTS), TASKS)
    counted = numpy.ones((4, NIGHTS * TASKS + ANCHORS), int)
    counted[0, : NIGHTS * TASKS][night >= NIGHTS // 2] = 0
    counted[1, : NIGHTS * TASKS][night < NIGHTS // 2] = 0
    is_new = numpy.arange(counted.shape[1]) < NIGHTS * TASKS
    clusters = [str(task) for task in night] + [f"fixed {number}" for number in range(ANCHORS)]
    # What an entrant would do on all nights and all fixed tasks that could be drawn, for the gap.
    draws = dice.normal(0, 1, 20_000)
    new, fixed = (expit(TRUTH[:, None] - s * draws).mean(axis=1) for s in (numpy.hypot(SPREAD, BETWEEN), SPREAD))
    for _ in range(boards):
        shift = numpy.append(dice.normal(0, BETWEEN, NIGHTS)[night], numpy.zeros(ANCHORS))
        chances = expit(TRUTH[:, None] - dice.normal(0, SPREAD, len(shift)) - shift)
        resolved = dice.binomial(counted, chances)
        fit = fit_abilities(resolved, counted, clusters, is_new)
        truths = chances[:, is_new].mean(axis=1)
        equated += sum(a.rate_low <= t <= a.rate_high for a, t in zip(fit.entrants, truths, strict=True))
        for entrant in range(4):
            nights = rate_over_clusters(resolved[entrant, is_new], counted[entrant, is_new], clusters[: NIGHTS * TASKS])
            anchor_gap = gap(rate(resolved[entrant, ~is_new], counted[entrant, ~is_new]), nights)
            assert anchor_gap.low is not None and anchor_gap.high is not None
            gaps += anchor_gap.low <= new[entrant] - fixed[entrant] <= anchor_gap.high
    return [
        share("equated rate over all nights covered, half of them played", equated, 4 * boards, at_least=0.93),
        share("gap between new and fixed tasks covered", gaps, 4 * boards, at_least=0.93),
    ]
