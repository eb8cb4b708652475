"""The statistics of leaderboards, as pure functions of numbers. The episodes of one task form one cluster.

Importing `scipy.stats` or statsmodels takes longer than a command that only reads should take. So short formulas are
implemented here, and tests compare them with both libraries. NumPy and the lighter parts of SciPy are imported where
needed.
"""

from stackrank.db.stats.board import MIN_SHARED, error_balance, error_bounds, mean_leads, rank_ranges, ranked_together
from stackrank.db.stats.clusters import ClusterInterval, cluster_interval
from stackrank.db.stats.effort import EffortDifference, effort
from stackrank.db.stats.gaps import RateGap, gap, rate_over_clusters
from stackrank.db.stats.history import BASELINE, WINDOW, BaselineChange, RunScores, compare_with_baseline
from stackrank.db.stats.pairs import PairedDifference, TaskScore, holm, holm_levels, pair_p_values, paired_difference
from stackrank.db.stats.power import detectable, mcnemar_power, permutation_power
from stackrank.db.stats.rates import (
    ALPHA,
    CostEstimate,
    Rate,
    ReliabilityEstimate,
    cost_per_resolved,
    normal_quantile,
    rate,
    reliability,
    tested_reach,
)

__all__ = [
    "ALPHA",
    "BASELINE",
    "MIN_SHARED",
    "WINDOW",
    "BaselineChange",
    "ClusterInterval",
    "CostEstimate",
    "EffortDifference",
    "PairedDifference",
    "Rate",
    "RateGap",
    "ReliabilityEstimate",
    "RunScores",
    "TaskScore",
    "cluster_interval",
    "compare_with_baseline",
    "cost_per_resolved",
    "detectable",
    "effort",
    "error_balance",
    "error_bounds",
    "gap",
    "holm",
    "holm_levels",
    "mcnemar_power",
    "mean_leads",
    "normal_quantile",
    "pair_p_values",
    "paired_difference",
    "permutation_power",
    "rank_ranges",
    "ranked_together",
    "rate",
    "rate_over_clusters",
    "reliability",
    "tested_reach",
]
