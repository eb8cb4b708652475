"""The statistics against known truths, by simulation: `python -m tests.bench.statistics [TABLE ...] [--quick]`.

A table is one module with `def table(simulations: int) -> list[Line]`; a new file is all that a new table needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One number beside what it has to be."""

    name: str
    value: str
    target: str
    holds: bool


def share(
    name: str, hits: float, simulations: int, *, at_least: float | None = None, at_most: float | None = None
) -> Line:
    """A simulated share against its bounds, with an allowance of two standard errors of the simulation itself."""
    measured = hits / simulations
    allowance = {bound: 2 * math.sqrt(bound * (1 - bound) / simulations) for bound in (at_least, at_most) if bound}
    low = at_least is None or measured >= at_least - allowance.get(at_least, 0.0)
    high = at_most is None or measured <= at_most + allowance.get(at_most, 0.0)
    ends = [f">= {at_least:.1%}" if at_least is not None else "", f"<= {at_most:.1%}" if at_most is not None else ""]
    return Line(name, f"{measured:.1%}", " and ".join(filter(None, ends)), low and high)
