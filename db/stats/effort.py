"""Two entrants on the same tasks: which of them needs less, even if both resolve nearly all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from stackrank.db.stats import flips
from stackrank.db.stats.rates import ALPHA, t_quantile

_GRAINS = 150
"""How many parts the budget is divided into for the test, which rounds gaps to whole parts."""


@dataclass(frozen=True, slots=True)
class EffortDifference:
    """What two entrants need to resolve a task, in one unit (steps, tokens, dollars), over the tasks that both played.

    `first` and `second` are means over tasks; `saved` is how much less the second needs, with its 95% interval and
    two-sided p-value. All are None without a task in common.
    """

    tasks: int
    first: float | None
    second: float | None
    saved: float | None
    low: float | None
    high: float | None
    p_value: float | None


def effort(first: Sequence[float], second: Sequence[float], budget: float, *, alpha: float = ALPHA) -> EffortDifference:
    """Compare what task i took on either side, as means in which an unresolved episode counts as the whole budget.

    This is the restricted mean of the steps to a resolved task: the area above the curve of the share resolved by
    number of steps (Royston and Parmar 2013, BMC Medical Research Methodology 13:152). Tasks weigh the same. The test
    exchanges the sides of whole tasks, and the interval inverts the test (`flips`), so that it leaves 0 out if and only
    if p < alpha. With too few tasks for the test it is Student's, extended to include 0.
    """
    import numpy

    pairs = list(zip(first, second, strict=True))
    if not pairs:
        return EffortDifference(0, None, None, None, None, None, None)
    needs = numpy.array(pairs)
    gaps = needs[:, 0] - needs[:, 1]
    saved, tasks = float(gaps.mean()), len(pairs)
    p_value = flips.p_values(numpy.rint(gaps / budget * _GRAINS).astype(int)[None, :])[0] if budget else 1.0
    if p_value < alpha or flips.can_tell(tasks, alpha):
        sums = flips.subset_sums(numpy.column_stack([numpy.ones(tasks), gaps]))
        sums = sums[sums[:, 0] > 0]
        low, high = flips.subset_interval(sums[:, 1] / sums[:, 0], saved, alpha, sure=p_value < alpha)
    else:
        spread = float(gaps.std(ddof=1)) if tasks > 1 else budget
        reach = t_quantile(1 - alpha / 2, max(1, tasks - 1)) * spread / math.sqrt(tasks)
        low, high = saved - reach, saved + reach
    low, high = max(-budget, low), min(budget, high)
    if p_value >= alpha:
        # Equal results are no certainty: one more task may differ by the widest gap that was seen.
        least = float(numpy.abs(gaps).max() or budget) * flips.least_reach(tasks, alpha) / 2
        low, high = min(low, saved - least, 0.0), max(high, saved + least, 0.0)
    return EffortDifference(tasks, float(needs[:, 0].mean()), float(needs[:, 1].mean()), saved, low, high, p_value)
