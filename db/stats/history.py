"""Compare a run with the earlier runs of its series: has an entrant become better or worse?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from stackrank.db.stats import stratified
from stackrank.db.stats.pairs import TaskCount, TaskScore, paired_difference
from stackrank.db.stats.rates import ALPHA, is_whole

BASELINE = 10
"""How many earlier runs are the baseline: the newest ones that were not reported as worse."""
WINDOW = 3
"""At most this many of the newest runs are tested together."""
RECOVERED = 0.4
"""A run whose gap is less than this share of the gap of the runs before it is not pooled with them."""


@dataclass(frozen=True, slots=True)
class RunScores:
    """The results of an entrant in a run of the series, with the tasks in an order that all of its nights share."""

    played: Sequence[TaskScore]
    worse: bool = False
    """Whether it is one of the runs (`Change.runs`) that were reported as worse than their baseline."""


@dataclass(frozen=True, slots=True)
class BaselineChange:
    """The newest run, pooled with similar runs right before it, against the baseline before them."""

    tasks: int
    rate_before: float
    rate_now: float
    low: float
    high: float
    p_value: float
    """Two-sided, for this entrant alone."""
    runs: int
    """How many runs `rate_now` is over."""
    baseline: int
    """How many runs `rate_before` is over."""

    @property
    def difference(self) -> float:
        """By how much the rate rose."""
        return self.rate_now - self.rate_before


def compare_with_baseline(earlier: Sequence[RunScores], tonight: Sequence[TaskScore]) -> BaselineChange | None:
    """Return how tonight differs from the earlier nights (oldest first); None without a task that both have counted.

    Nights that were reported as worse are never part of the baseline, so that a lasting drop does not become the norm;
    those right before tonight are pooled with it. Otherwise tonight, the last two and the last three nights are tested,
    and the clearest result counts. P-values are multiplied by the number of these tests (Bonferroni). Nights are pooled
    only if tonight has not recovered from the gap that the others share.
    """
    clean = [night.played for night in earlier if not night.worse]
    worse_nights = list(takewhile(lambda night: night.worse, reversed(earlier)))[:BASELINE]
    candidates: list[BaselineChange] = []
    if worse_nights and (candidate := _compare_window(clean, [night.played for night in worse_nights], tonight)):
        return _with_p_value(candidate, min(1.0, WINDOW * candidate.p_value))
    widths = [
        width
        for width in range(min(WINDOW, max(1, len(clean))))
        if not any(night.worse for night in earlier[len(earlier) - width :])
    ]
    for width in widths:
        split = len(clean) - width
        if candidate := _compare_window(clean[:split], clean[split:], tonight):
            candidates.append(candidate)
    best = min(candidates, key=lambda candidate: candidate.p_value, default=None)
    return best and _with_p_value(best, min(1.0, len(widths) * best.p_value))


def _compare_window(
    earlier: Sequence[Sequence[TaskScore]], recent: Sequence[Sequence[TaskScore]], tonight: Sequence[TaskScore]
) -> BaselineChange | None:
    """Compare tonight and these recent nights, if they are alike, with the newest of the nights before."""
    baseline = _pool(earlier[-BASELINE:], len(tonight))
    if not _shared_tasks(tonight, baseline):
        return None
    if recent:
        lately = _mean_gap(_pool(recent, len(tonight)), baseline)
        if _mean_gap(tonight, baseline) * lately <= lately**2 * RECOVERED:
            return None
    shared = _shared_tasks(_pool([*recent, tonight], len(tonight)), baseline)
    recent_counts, baseline_counts = [a for a, _ in shared], [b for _, b in shared]
    rate = sum(resolved / counted for resolved, counted in baseline_counts) / len(baseline_counts)
    mean, low, high, p_value = _difference(baseline_counts, recent_counts)
    return BaselineChange(len(shared), rate, rate + mean, low, high, p_value, len(recent) + 1, len(earlier[-BASELINE:]))


def _difference(earlier: Sequence[TaskScore], recent: Sequence[TaskScore]) -> tuple[float, float, float, float]:
    """Return how far recent nights are ahead on the same tasks: mean, low, high and p-value."""
    if is_whole(resolved for resolved, _ in (*earlier, *recent)):
        counts, earlier_counts = _as_counts(recent), _as_counts(earlier)
        return *stratified.interval(counts, earlier_counts), stratified.p_value(counts, earlier_counts)
    # Shares of mended faults have no chances that could be counted, so the tasks' gaps decide.
    gap = paired_difference(earlier, recent)
    assert gap.difference is not None and gap.low is not None and gap.high is not None and gap.p_value is not None
    return gap.difference, gap.low, gap.high, gap.p_value


def _as_counts(scores: Sequence[TaskScore]) -> list[TaskCount]:
    return [(int(resolved), counted) for resolved, counted in scores]


def _with_p_value(change: BaselineChange, p_value: float) -> BaselineChange:
    """Return the change with its corrected p-value; the interval includes 0 if the change may be chance."""
    if p_value < ALPHA:
        return replace(change, p_value=p_value)
    return replace(change, p_value=p_value, low=min(change.low, 0.0), high=max(change.high, 0.0))


def _shared_tasks(first: Sequence[TaskScore], second: Sequence[TaskScore]) -> list[tuple[TaskScore, TaskScore]]:
    return [(a, b) for a, b in zip(first, second, strict=True) if a[1] and b[1]]


def _pool(nights: Sequence[Sequence[TaskScore]], tasks: int) -> list[TaskScore]:
    """Add up, task by task, what was resolved and what was counted in all nights."""
    pooled: list[TaskScore] = [(0, 0)] * tasks
    for night in nights:
        pooled = [
            (resolved + night_resolved, counted + night_counted)
            for (resolved, counted), (night_resolved, night_counted) in zip(pooled, night, strict=True)
        ]
    return pooled


def _mean_gap(first: Sequence[TaskScore], second: Sequence[TaskScore]) -> float:
    gaps = [a[0] / a[1] - b[0] / b[1] for a, b in _shared_tasks(first, second)]
    return sum(gaps) / len(gaps) if gaps else 0.0
