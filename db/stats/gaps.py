"""How much better or worse an entrant is on new tasks than on known ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from stackrank.db.stats.clusters import cluster_interval
from stackrank.db.stats.rates import Rate, rate


@dataclass(frozen=True, slots=True)
class RateGap:
    """The second of two rates less the first, in -1..1, with its 95% interval; None if a rate is unknown."""

    difference: float | None
    low: float | None
    high: float | None


def rate_over_clusters(resolved: Sequence[float], counted: Sequence[int], clusters: Sequence[str]) -> Rate:
    """Return `rate` with an interval at least as wide as that for clusters of similar tasks (`cluster_interval`)."""
    estimate = rate(resolved, counted)
    shares = [(r / n, cluster) for r, n, cluster in zip(resolved, counted, clusters, strict=True) if n > 0]
    wider = cluster_interval([share for share, _ in shares], [cluster for _, cluster in shares])
    if wider is None or estimate.low is None or estimate.high is None:
        return estimate
    return Rate(estimate.rate, max(0.0, min(estimate.low, wider.low)), min(1.0, max(estimate.high, wider.high)))


def gap(first: Rate, second: Rate) -> RateGap:
    """The difference of two rates over different tasks, which are independent of each other.

    The interval is computed from those of the two rates: method 10 of Newcombe (1998, Statistics in Medicine 17:873),
    which stays within -1..1 and is valid for few tasks and for rates near 0 or 1.
    """
    (p, low, high), (q, second_low, second_high) = (
        (estimate.rate, estimate.low, estimate.high) for estimate in (first, second)
    )
    if p is None or q is None or low is None or high is None or second_low is None or second_high is None:
        return RateGap(None, None, None)
    return RateGap(q - p, q - p - math.hypot(high - p, q - second_low), q - p + math.hypot(p - low, second_high - q))
