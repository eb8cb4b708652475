"""The statistics of leaderboards, as pure functions of numbers. The episodes of one task form one cluster.

Importing `scipy.stats` or statsmodels takes longer than a command that only reads should take. So short formulas are
implemented here, and tests compare them with both libraries. NumPy and the lighter parts of SciPy are imported where
needed.
"""

from stackrank.db.stats.board import ENOUGH, error_balance, error_bounds, leads, rank_ranges, ranked_together
from stackrank.db.stats.clusters import Clustered, clustered
from stackrank.db.stats.effort import Effort, effort
from stackrank.db.stats.gaps import Gap, gap, rate_over_clusters
from stackrank.db.stats.history import BASELINE, WINDOW, Change, Night, change
from stackrank.db.stats.pairs import Difference, Played, holm, pair_p_values, paired_difference
from stackrank.db.stats.power import detectable, mcnemar_power, permutation_power
from stackrank.db.stats.rates import ALPHA, Cost, Rate, Reliability, cost_per_resolved, rate, reliability

__all__ = [
    "ALPHA",
    "BASELINE",
    "ENOUGH",
    "WINDOW",
    "Change",
    "Clustered",
    "Cost",
    "Difference",
    "Effort",
    "Gap",
    "Night",
    "Played",
    "Rate",
    "Reliability",
    "change",
    "clustered",
    "cost_per_resolved",
    "detectable",
    "effort",
    "error_balance",
    "error_bounds",
    "gap",
    "holm",
    "leads",
    "mcnemar_power",
    "pair_p_values",
    "paired_difference",
    "permutation_power",
    "rank_ranges",
    "ranked_together",
    "rate",
    "rate_over_clusters",
    "reliability",
]
