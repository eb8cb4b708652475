"""Whether an entrant is not worse than another by more than a margin: non-inferiority, from the interval of record."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, pstdev

from stackrank.db.stats.power import POWER
from stackrank.db.stats.rates import NORMAL
from stackrank.terms import GateOutcome

_MOST = 100_000


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """What a comparison says about a margin."""

    outcome: GateOutcome
    more_tasks: int | None
    """If the outcome is unknown: how many more tasks would decide it, with a chance of 80%, if the second is as far
    ahead or behind as it seems. None if it is known, or if the difference is too near the margin for any number."""


def judge_noninferiority(
    gaps: Sequence[float], low: float | None, high: float | None, max_drop: float
) -> NonInferiority:
    """Judge the second of two entrants by the gaps of the tasks (its rate less the first's) and their 95% interval.

    Not worse: the whole interval is above -max_drop. Worse: the whole interval is below. So each of the two outcomes is
    wrong with a chance of 2.5%, the convention of clinical trials (ICH E9, 1998), and agrees with the interval that is
    shown.
    """
    if low is not None and low > -max_drop:
        return NonInferiority(GateOutcome.NOT_WORSE, None)
    if high is not None and high < -max_drop:
        return NonInferiority(GateOutcome.WORSE, None)
    # Add one task in favour of either side, because few gaps are no certainty (Bonett and Price 2012).
    smoothed = [*gaps, 1.0, -1.0]
    distance = abs(fmean(smoothed) + max_drop)
    reach = (NORMAL + NormalDist().inv_cdf(POWER)) * pstdev(smoothed)
    if reach**2 > _MOST * distance**2:
        return NonInferiority(GateOutcome.UNKNOWN, None)
    return NonInferiority(GateOutcome.UNKNOWN, max(1, math.ceil((reach / distance) ** 2) - len(gaps)))
