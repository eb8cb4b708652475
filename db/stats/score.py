"""One attempt per side: exact McNemar, and the score intervals that belong to it.

The intervals invert score tests. Among these, the test of no difference is McNemar's, and here it is the exact one. So
the intervals include 0 if and only if the exact test does not reject it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from stackrank.db.stats.rates import ALPHA, normal_quantile, tested_reach


def mcnemar(better: int, worse: int) -> float:
    """The exact two-sided p-value from the tasks on which either side did better (McNemar 1947)."""
    tasks = better + worse
    as_few = sum(math.comb(tasks, n) for n in range(min(better, worse) + 1))
    return min(1.0, 2 * as_few / (1 << tasks))


def interval(
    both_resolved: int, better: int, worse: int, tasks: int, alpha: float = ALPHA
) -> tuple[float, float, float, float]:
    """Return low and high of the difference, and of the uplift (its high may be infinite).

    `both_resolved` tasks were resolved by both, `better` by the second only, `worse` by the first only. Difference:
    Tango (1998, Statistics in Medicine 17:891). Uplift: Nam and Blackwelder (2002, Statistics in Medicine 21:689).
    """
    observed, normal = (better - worse) / tasks, normal_quantile(alpha)
    low = _crossing(lambda d: _tango(better, worse, tasks, d) - normal, observed, -1.0)
    high = _crossing(lambda d: -_tango(better, worse, tasks, d) - normal, observed, 1.0)
    first, second = both_resolved + worse, both_resolved + better

    def ratio(share: float) -> float:  # 0..1 stands for ratios from 0 to infinity
        return _nam_blackwelder(first, second, better, worse, tasks, share / (1 - share))

    middle = second / (first + second) if first + second else 0.5
    lowest = _crossing(lambda share: ratio(share) - normal, middle, 0.0)
    highest = _crossing(lambda share: -ratio(share) - normal, middle, 1.0)
    up_low = lowest / (1 - lowest) - 1 if lowest < 1 else math.inf
    up_high = highest / (1 - highest) - 1 if highest < 1 - 1e-9 else math.inf
    p_value = mcnemar(better, worse)
    if p_value >= alpha:
        return min(low, 0.0), max(high, 0.0), min(up_low, 0.0), max(up_high, 0.0)
    # Far out, the exact test is surer than the score.
    reach = tested_reach(observed, p_value, alpha)
    relative = tasks / first if first else math.inf
    if low <= 0 < observed:
        low = observed - reach
        up_low = max(up_low, low * relative)
    elif observed < 0 <= high:
        high = observed + reach
        up_high = min(up_high, high * relative)
    return low, high, up_low, up_high


def _crossing(excess: Callable[[float], float], lower: float, end: float) -> float:
    """Find where the excess, negative at `inside`, becomes positive on the way to `end`; `end` if it does not."""
    upper = end
    for _ in range(50):
        middle = (lower + upper) / 2
        if middle in (lower, upper) or excess(middle) > 0:
            upper = middle
        else:
            lower = middle
    return end if abs(lower - end) < 1e-9 else lower


def _tango(better: int, worse: int, tasks: int, difference: float) -> float:
    """The score statistic for a true difference."""
    b = -better - worse + (2 * tasks - better + worse) * difference
    c = -worse * difference * (1 - difference)
    lost = max(0.0, (math.sqrt(max(0.0, b * b - 8 * tasks * c)) - b) / (4 * tasks))
    variance = tasks * (2 * lost + difference * (1 - difference))
    return _standardize(better - worse - tasks * difference, variance)


def _nam_blackwelder(first: int, second: int, better: int, worse: int, tasks: int, ratio: float) -> float:
    """The score statistic for a true ratio of the second's rate to the first's."""
    first_rate, second_rate, won_rate, lost_rate = first / tasks, second / tasks, better / tasks, worse / tasks
    if ratio == 0:
        return math.inf if second_rate else 0.0
    root = math.sqrt(max(0.0, (second_rate - ratio**2 * first_rate) ** 2 + 4 * ratio**2 * won_rate * lost_rate))
    # The cells of the table that are most likely under this ratio.
    likely_lost = (-second_rate + ratio**2 * (first_rate + 2 * won_rate) + root) / (2 * ratio * (ratio + 1))
    likely_won = ratio * likely_lost - (ratio - 1) * (second_rate + lost_rate)
    return _standardize(math.sqrt(tasks) * (second_rate - ratio * first_rate), ratio * (likely_won + likely_lost))


def _standardize(distance: float, variance: float) -> float:
    if abs(distance) < 1e-12:
        return 0.0
    return distance / math.sqrt(variance) if variance > 1e-15 else math.copysign(math.inf, distance)
