"""The power that `stackrank plan` promises, against simulated tests."""

from __future__ import annotations

from functools import cache

import numpy

from stackrank.db.stats import paired_difference
from stackrank.db.stats.planning import Spread, needed_tasks, power, spread
from stackrank.db.stats.power import POWER
from tests.bench.statistics import Line
from tests.bench.statistics.stopping import rates

MOST = 400
ALLOWED = 0.08
"""How far the power may be from what was promised, the error of the simulation included."""


@cache
def _truth(first: float, second: float) -> Spread:
    """The spread of two entrants, from very many tasks with very many attempts."""
    first_rates, second_rates = rates(numpy.random.default_rng(41), 20_000, 400, (first, second))
    return Spread(
        float((second_rates - first_rates).var()),
        float((first_rates * (1 - first_rates) + second_rates * (1 - second_rates)).mean()),
    )


def _found(simulations: int, tasks: int, attempts: int, truths: tuple[float, float]) -> float:
    """How often the test of record finds the difference."""
    dice, hits = numpy.random.default_rng(42), 0
    for _ in range(simulations):
        first_counts, second_counts = (rates(dice, tasks, attempts, truths) * attempts).round().astype(int).tolist()
        gap = paired_difference([(n, attempts) for n in first_counts], [(n, attempts) for n in second_counts])
        hits += gap.p_value is not None and gap.p_value < 0.05 and (gap.difference or 0) > 0
    return hits / simulations


def table(simulations: int) -> list[Line]:
    """The power at the numbers of tasks that the plan asks for, and at those that it is given."""
    simulations, lines = min(simulations, MOST), []
    allowed = max(ALLOWED, 2.5 * (POWER * (1 - POWER) / simulations) ** 0.5)

    def compared(name: str, promised: float, observed: float) -> Line:
        target = f"{promised:.1%} +- {100 * allowed:.0f}"
        return Line(name, f"{observed:.1%}", target, abs(observed - promised) <= allowed)

    for attempts, truths in ((1, (0.45, 0.55)), (3, (0.45, 0.55)), (2, (0.3, 0.45))):
        gap, of = round(truths[1] - truths[0], 6), _truth(*truths)
        tasks = needed_tasks(gap, attempts, of, 0.05)
        name = f"{100 * gap:g} points with {tasks} tasks x {attempts}, as planned"
        lines.append(compared(name, POWER, _found(simulations, tasks, attempts, truths)))
    for tasks, attempts, truths in ((20, 1, (0.3, 0.6)), (20, 3, (0.3, 0.6)), (150, 1, (0.5, 0.55))):
        promised = power(round(truths[1] - truths[0], 6), tasks, attempts, _truth(*truths), 0.05)
        name = f"{100 * (truths[1] - truths[0]):.0f} points on {tasks} tasks x {attempts}"
        lines.append(compared(name, promised, _found(simulations, tasks, attempts, truths)))
    return [*lines, *_estimates(simulations)]


def _estimates(simulations: int) -> list[Line]:
    """The spread that earlier runs show is the true one, on average."""
    dice, truth = numpy.random.default_rng(43), _truth(0.45, 0.55)
    estimates = []
    for _ in range(simulations):
        first_counts, second_counts = (rates(dice, 150, 3, (0.45, 0.55)) * 3).round().astype(int).tolist()
        estimate = spread([[((a, 3), (b, 3)) for a, b in zip(first_counts, second_counts, strict=True)]])
        assert estimate is not None
        estimates.append((estimate.between, estimate.within))
    means = numpy.mean(estimates, axis=0)
    return [
        Line(
            f"variance {name} tasks, 150 x 3",
            f"{mean:.4f}",
            f"{true:.4f} +- 10%",
            abs(mean - true) <= 0.1 * true + 2 * error,
        )
        for name, mean, true, error in zip(
            ("between", "within"),
            means,
            (truth.between, truth.within),
            numpy.std(estimates, axis=0) / simulations**0.5,
            strict=True,
        )
    ]
