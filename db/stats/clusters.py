"""The interval of a difference over clusters of similar tasks, such as those of one repository or of one category."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from stackrank.db.stats.rates import ALPHA, t_quantile

MIN_CLUSTERS = 5
"""Fewer clusters say next to nothing about how much clusters differ."""


@dataclass(frozen=True, slots=True)
class ClusterInterval:
    """The interval of a mean of gaps (-1..1), and how many clusters of similar tasks it is over."""

    clusters: int
    low: float
    high: float


def cluster_interval(gaps: Sequence[float], clusters: Sequence[str], alpha: float = ALPHA) -> ClusterInterval | None:
    """The interval (of 1 - alpha) of the mean gap if clusters are a random sample; `clusters[i]` is that of task i.

    A task without a cluster ("") is its own. None if no two tasks share a cluster, or if there are fewer than five.
    The interval is cluster-robust with the correction for few clusters, CR2, and its degrees of freedom (Bell and
    McCaffrey 2002, Survey Methodology 28:169; Imbens and Kolesar 2016, Review of Economics and Statistics 98:701).
    """
    mean, members = sum(gaps) / len(gaps) if gaps else 0.0, defaultdict[object, list[float]](list)
    for place, (gap, cluster) in enumerate(zip(gaps, clusters, strict=True)):
        members[cluster or place].append(gap - mean)
    if len(members) < MIN_CLUSTERS or len(members) == len(gaps):
        return None
    shares = [len(cluster_gaps) / len(gaps) for cluster_gaps in members.values()]
    variance = sum(
        math.fsum(cluster_gaps) ** 2 / (1 - share) for cluster_gaps, share in zip(members.values(), shares, strict=True)
    )
    reach = t_quantile(1 - alpha / 2, _freedom(shares)) * math.sqrt(variance) / len(gaps)
    return ClusterInterval(len(members), max(-1.0, mean - reach), min(1.0, mean + reach))


def _freedom(shares: Sequence[float]) -> float:
    """Satterthwaite's degrees of freedom for independent gaps, from the clusters' shares of the tasks.

    (trace B)^2 / trace(B^2), where B is the covariance of the clusters' adjusted sums: p(1-p) / (1-p) on its diagonal,
    -pq / sqrt((1-p)(1-q)) elsewhere.
    """
    odds = [share**2 / (1 - share) for share in shares]
    squares = sum(share**2 for share in shares) + sum(odds) ** 2 - sum(odd**2 for odd in odds)
    return 1 / squares
