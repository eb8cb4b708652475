"""The statistics behind a leaderboard. Pure functions of numbers; the episodes of one task are one cluster.

Errors never come in here: what is counted are resolved and unresolved episodes. SciPy and statsmodels do the work and
are imported when a function is called, since they take a second or two.
"""

from db.stats.pairs import Difference, detectable, holm, paired_difference
from db.stats.rates import ALPHA, Cost, Rate, Reliability, cost_per_resolved, rank_ranges, rate, reliability

__all__ = [
    "ALPHA",
    "Cost",
    "Difference",
    "Rate",
    "Reliability",
    "cost_per_resolved",
    "detectable",
    "holm",
    "paired_difference",
    "rank_ranges",
    "rate",
    "reliability",
]
