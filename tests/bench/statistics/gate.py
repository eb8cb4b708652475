"""The false passes and false failures of the gate `compare --max-drop`."""

from __future__ import annotations

import numpy

from stackrank.db.stats import paired_difference
from stackrank.db.stats.noninferiority import judge_noninferiority
from stackrank.terms import GateOutcome
from tests.bench.statistics import Line, share
from tests.bench.statistics.stopping import rates

MOST = 500
BOARDS = [(150, 1, 0.1), (150, 3, 0.05), (40, 1, 0.2), (20, 3, 0.1)]
"""Tasks, attempts and the margin."""


def _outcomes(simulations: int, tasks: int, attempts: int, margin: float, drop: float) -> list[GateOutcome]:
    """What the gate says of a candidate that is worse by `drop` than a reference that resolves 60%."""
    dice, outcomes = numpy.random.default_rng(31), []
    for _ in range(simulations):
        baseline, candidate = (
            (rates(dice, tasks, attempts, (0.6, round(0.6 - drop, 6))) * attempts).round().astype(int).tolist()
        )
        gap = paired_difference([(n, attempts) for n in baseline], [(n, attempts) for n in candidate])
        gaps = [(b - a) / attempts for a, b in zip(baseline, candidate, strict=True)]
        outcomes.append(judge_noninferiority(gaps, gap.low, gap.high, margin).outcome)
    return outcomes


def table(simulations: int) -> list[Line]:
    """False passes and false failures where they are likeliest, at the margin itself; and the power to pass."""
    simulations, lines = min(simulations, MOST), []
    for tasks, attempts, margin in BOARDS:
        name = f"{tasks} x {attempts}, margin {100 * margin:g}"
        at_margin = _outcomes(simulations, tasks, attempts, margin, margin)
        lines.append(
            share(
                f"{name}: passes, worse by the margin",
                at_margin.count(GateOutcome.NOT_WORSE),
                simulations,
                at_most=0.05,
            )
        )
        lines.append(
            share(
                f"{name}: fails, worse by the margin only",
                at_margin.count(GateOutcome.WORSE),
                simulations,
                at_most=0.05,
            )
        )
        equal = _outcomes(simulations, tasks, attempts, margin, 0.0)
        lines.append(share(f"{name}: fails an equal one", equal.count(GateOutcome.WORSE), simulations, at_most=0.05))
        passed = equal.count(GateOutcome.NOT_WORSE) / simulations
        lines.append(Line(f"{name}: passes an equal one at once", f"{passed:.1%}", "shown", True))
    return lines
