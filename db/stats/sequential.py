"""Comparisons that may be looked at while episodes are played, and ended when they are decided.

The null hypothesis is that of `flips`: a coin decides the sides of each task. Under it, the sum of the gaps so far is a
random walk with known steps and fair signs, so the chance of ever having left given limits can be computed exactly. The
limits spend the allowed error over the tasks that a run can play (Lan and DeMets 1983, Biometrika 70:659, with Pocock's
spending function); no error is kept for after the last task, and looking after each task costs nothing. Around the mean
so far, the same limits are intervals that hold at all looks together (repeated confidence intervals: Jennison and
Turnbull 1989, J. Royal Statistical Society B 51:305). Tasks come in random order, or in one that was chosen before
(`informative`); a task's gap counts as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from stackrank.db.stats.flips import as_integers
from stackrank.db.stats.informative import DealtTask
from stackrank.db.stats.pairs import holm
from stackrank.terms import Decision

_PARTS = 60
"""Gaps are rounded to multiples of one part in this many."""
_NEGLIGIBLE_CHANCE = 1e-7
"""Walks that are further out than all but this share of walks count as out at every level."""
_PAIRS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 28, 36, 45, 66, 100, 200, 500, 1000, 5000)
"""p-values are rounded up to alpha divided by one of these, or to one of a few levels above alpha."""


@dataclass(frozen=True, slots=True)
class Sequential:
    """What is known, after some tasks, about how far the second of two entrants is ahead."""

    tasks: int
    difference: float | None
    """The mean of the gaps so far; None before the first task."""
    p_value: float
    """For no difference; valid at all times, before the correction over pairs."""
    p_corrected: float
    p_equal: float
    """For a difference as large as the margin, corrected; 1 if no margin was given."""
    decision: Decision

    @property
    def decided(self) -> bool:
        """Whether the comparison is decided."""
        return self.decision is not Decision.OPEN


def decide(
    pairs: Sequence[Sequence[float]],
    alpha: float,
    *,
    horizon: int,
    equal_within: float | None = None,
    dealt: Sequence[Sequence[DealtTask]] = (),
) -> list[Sequential]:
    """Return each pair's state from its gaps, the second's rate less the first's (-1..1), in the order of play.

    `horizon`: the most tasks that a pair can have. `dealt`: for each pair, what the task of each gap counts for, if the
    order was not random; who is ahead follows from the gaps, how far from the weighted gaps. The chance that any
    decision is wrong, over all looks, is at most `alpha`. Without a margin the correction is Holm's. With one, a pair
    has two kinds of error, of which at most one is possible at a time, so both kinds of p-value are corrected by
    Bonferroni.
    """
    clocks = [[task.clock for task in tasks] for tasks in dealt] or [[] for _ in pairs]
    walks = [Walk(gaps, alpha, horizon, clock) for gaps, clock in zip(pairs, clocks, strict=True)]
    estimates = walks
    if dealt:
        estimates = [Walk(weighted_gaps(gaps, tasks), alpha, horizon) for gaps, tasks in zip(pairs, dealt, strict=True)]
    p_values = [walk.p_values()[-1] for walk in walks]
    if equal_within is None:
        corrected = holm(p_values)
        equal = [1.0] * len(pairs)
    else:
        corrected = [min(1.0, len(pairs) * p) for p in p_values]
        equal = [min(1.0, len(pairs) * walk.p_equal(equal_within)) for walk in estimates]
    states = []
    for place, (walk, p_value, p_corrected, p_equal) in enumerate(zip(walks, p_values, corrected, equal, strict=True)):
        decision = Decision.EQUAL if p_equal <= alpha else Decision.OPEN
        if p_corrected <= alpha:
            decision = Decision.AHEAD if walk.first_out(p_value) > 0 else Decision.BEHIND
        states.append(Sequential(walk.tasks, estimates[place].mean, p_value, p_corrected, p_equal, decision))
    return states


def weighted_gaps(gaps: Sequence[float], dealt: Sequence[DealtTask]) -> list[float]:
    """Return the gaps whose mean estimates the mean over all tasks; the gaps themselves if the order was random."""
    weighted = [gap * task.weight for gap, task in zip(gaps, dealt, strict=True) if task.weight] if dealt else gaps
    return list(weighted)


def sequence_interval(gaps: Sequence[float], alpha: float, *, horizon: int) -> tuple[float, float]:
    """The differences that no look has excluded: they include the true one with 1 - alpha at all times together.

    They leave 0 out if and only if `decide`, asked about this pair alone, says who is ahead.
    """
    walk = Walk(gaps, alpha, horizon)
    if walk.mean is None:
        return -1.0, 1.0
    low, high = walk.ends()
    place = walk.levels.index(alpha)
    return (
        max(-1.0, min(walk.mean, float(low[:, place].max()))),
        min(1.0, max(walk.mean, float(high[:, place].min()))),
    )


class Walk:
    """The sum of the gaps of one pair, task by task, and its limits at each of several levels."""

    def __init__(self, gaps: Sequence[float], alpha: float, horizon: int, clock: Sequence[float] = ()) -> None:
        import numpy

        horizon = max(horizon, len(gaps), 1)
        times = tuple(clock[: len(gaps)]) or tuple((look + 1) / horizon for look in range(len(gaps)))
        self.tasks = len(gaps)
        self.levels = tuple(sorted({0.5, 0.2, 2 * alpha, *(alpha / pairs for pairs in _PAIRS)}, reverse=True))
        self.mean = sum(gaps) / len(gaps) if gaps else None
        scaled = as_integers(numpy.asarray(gaps, dtype=float), _PARTS)
        unit = int(numpy.gcd.reduce(scaled)) or 1
        self._steps = scaled // unit
        self._sums = self._steps.cumsum()
        self._limits = _limits(tuple(numpy.abs(self._steps).tolist()), self.levels, times)
        self._part = unit / _PARTS

    def p_values(self) -> list[float]:
        """The p-value before the first task, and after each: the smallest level whose limits the walk has left."""
        import numpy

        crossed = numpy.logical_or.accumulate(self._outside(), axis=0).sum(axis=1)
        # A little smaller, so that rounding does not bring alpha / pairs above alpha when it is corrected.
        levels = (1.0, *(level * (1 - 1e-12) for level in self.levels))
        return [1.0, *(levels[count] for count in crossed.tolist())]

    def first_out(self, p_value: float) -> int:
        """Return on which side (-1, 1) the walk first left the limits of the level that a p-value stands for."""
        import numpy

        place = int(numpy.argmin(numpy.abs(numpy.array(self.levels) - p_value)))
        return int(numpy.sign(self._sums[self._outside()[:, place].argmax()]))

    def ends(self) -> tuple[Any, Any]:
        """Low and high of the difference (looks x levels), which include the true one at all looks together."""
        import numpy

        looks = numpy.arange(1, self.tasks + 1)[:, None]
        sums, limits = self._sums[:, None] * self._part, self._limits * self._part
        # If the difference were another one, the gaps would vary around that, as in Tango's interval. One task is added
        # for either side, as in Bonett and Price's. If no task differed, some still may: few gaps are no certainty.
        squares = numpy.maximum(((self._steps * self._part) ** 2).cumsum()[:, None], _NEGLIGIBLE_CHANCE)
        remaining = numpy.maximum(1 - limits**2 / squares / looks, _NEGLIGIBLE_CHANCE)
        wider = limits * numpy.sqrt((1 + 2 / squares) / remaining)
        reach = numpy.hypot(wider, numpy.log(2 / numpy.array(self.levels)))
        low, high = (sums - reach) / looks, (sums + reach) / looks
        # A walk that has left its limits excludes 0 and everything beyond.
        low = numpy.where(sums > limits, numpy.maximum(low, _NEGLIGIBLE_CHANCE), low)
        return low, numpy.where(sums < -limits, numpy.minimum(high, -_NEGLIGIBLE_CHANCE), high)

    def p_equal(self, margin: float) -> float:
        """The p-value for a difference that reaches the margin: the larger of those for either side."""
        if not self.tasks:
            return 1.0
        low, high = self.ends()
        is_within = ((low > -margin) & (high < margin)).any(axis=0).tolist()
        count = is_within.index(False) if False in is_within else len(is_within)
        return self.levels[count - 1] / 2 * (1 - 1e-12) if count else 1.0

    def _outside(self) -> Any:
        import numpy

        return numpy.abs(self._sums)[:, None] > self._limits


@lru_cache(maxsize=128)
def _limits(steps: tuple[int, ...], levels: tuple[float, ...], times: tuple[float, ...]) -> Any:
    """Return the furthest that the walk may be after each of its steps (looks x levels).

    The chance that it has been further by the time t is at most the level's share log(1 + (e - 1) t). `times`: t at
    each look, rising to at most 1.
    """
    import numpy

    spread = math.sqrt(2 * math.log(2 / _NEGLIGIBLE_CHANCE) * sum(step * step for step in steps))
    widest = max(1, min(sum(steps), math.ceil(spread) + max(steps, default=0)))
    allowed = numpy.array(levels)
    chances, spent = numpy.zeros((len(levels), 2 * widest + 1)), numpy.zeros(len(levels))
    chances[:, widest] = 1.0
    limits = numpy.full((len(steps), len(levels)), float(widest))
    columns = numpy.arange(2 * widest + 1)
    for look, step in enumerate(steps):
        if step:
            moved = numpy.zeros_like(chances)
            moved[:, step:] += chances[:, :-step] / 2
            moved[:, :-step] += chances[:, step:] / 2
            chances = moved
        budget = allowed * math.log1p((math.e - 1) * times[look]) - spent
        tails = 2 * chances[:, :widest].cumsum(axis=1)
        out = (tails <= budget[:, None]).sum(axis=1)
        limits[look] = widest - out
        spent += numpy.where(out > 0, tails[numpy.arange(len(levels)), out - 1], 0.0)
        chances[numpy.abs(columns - widest)[None, :] > limits[look][:, None]] = 0.0
    # A walk that is out at a level is out at all larger levels.
    return numpy.maximum.accumulate(limits, axis=1)
