"""Two entrants on the same tasks: who is ahead, by how much, and whether it is chance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from stackrank.db.stats import flips, score
from stackrank.db.stats.rates import ALPHA, is_whole

TaskCount = tuple[int, int]
"""(resolved, counted) of an entrant on a task, in episodes."""
TaskScore = tuple[float, int]
"""(resolved, counted) of an entrant on a task. `resolved` is a whole number, or adds up shares of mended faults."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How far the second of two entrants is ahead of the first, in 0..1, over the tasks that both played."""

    tasks: int
    difference: float | None
    low: float | None
    high: float | None
    uplift: float | None
    """Relative: the second's mean rate over the first's, less 1; None if the first resolves nothing."""
    uplift_low: float | None
    uplift_high: float | None
    """None if the first resolves so little that nothing bounds the ratio."""
    p_value: float | None
    """Two-sided. None without a task in common."""
    test: str
    """`mcnemar` (exact; one attempt per side, resolved or not) or `permutation` (of the sides within tasks)."""
    only_first: int
    """Tasks on which the first entrant did better."""
    only_second: int


def paired_difference(
    first: Sequence[TaskScore], second: Sequence[TaskScore], *, alpha: float = ALPHA
) -> PairedDifference:
    """Compare two entrants on the same tasks: `(resolved, counted)` of task i on either side.

    Tasks that one side has not counted are left out; the others weigh the same. The difference is the mean over tasks
    of the differences of their rates; the uplift is the ratio of the mean rates, less 1. The intervals invert the test
    (`score` with one attempt per side, `flips` with several or with shares of mended faults), so that both leave 0 out
    if and only if p < alpha; they cover 1 - alpha.
    """
    pairs = tasks_of_both(first, second)
    if not pairs:
        return PairedDifference(0, None, None, None, None, None, None, None, "mcnemar", 0, 0)
    single = is_single_attempt(pairs)
    shares = [(a[0] / a[1], b[0] / b[1]) for a, b in pairs]
    gaps = [b - a for a, b in shares]
    better, worse = sum(gap > 0 for gap in gaps), sum(gap < 0 for gap in gaps)
    if single:
        both_resolved = sum(a == b == 1 for a, b in shares)
        low, high, uplift_low, uplift_high = score.interval(both_resolved, better, worse, len(pairs), alpha)
        p_value = score.mcnemar(better, worse)
    else:
        import numpy

        whole = is_whole(resolved for pair in pairs for resolved, _ in pair)
        p_value = flips.p_value(gaps, _parts({n for pair in pairs for _, n in pair}, whole=whole))
        low, high, uplift_low, uplift_high = flips.interval(numpy.array(shares), p_value, alpha, whole=whole)
    base = sum(a for a, _ in shares)
    return PairedDifference(
        tasks=len(pairs),
        difference=sum(gaps) / len(gaps),
        low=low,
        high=high,
        uplift=sum(gaps) / base if base else None,
        uplift_low=uplift_low if base else None,
        uplift_high=uplift_high if base and math.isfinite(uplift_high) else None,
        p_value=p_value,
        test="mcnemar" if single else "permutation",
        only_first=worse,
        only_second=better,
    )


def tasks_of_both(first: Sequence[TaskScore], second: Sequence[TaskScore]) -> list[tuple[TaskScore, TaskScore]]:
    """The tasks that both sides have counted."""
    return [(a, b) for a, b in zip(first, second, strict=True) if a[1] > 0 and b[1] > 0]


def is_single_attempt(pairs: Sequence[tuple[TaskScore, TaskScore]]) -> bool:
    """Whether exact McNemar decides, because both sides have tried each task once and resolved it or not."""
    return all(a[1] == b[1] == 1 for a, b in pairs) and is_whole(side[0] for pair in pairs for side in pair)


def _parts(attempts: Iterable[int], *, whole: bool) -> int:
    """Return in how many parts gaps are measured for the test: shares of mended faults as finely as it can."""
    return math.lcm(*attempts) if whole else flips.FINEST


def pair_p_values(resolved: Any, counted: Any) -> dict[tuple[int, int], float]:
    """Return the p-value of each pair of entrants, as in `paired_difference`; pairs without a common task are left out.

    `resolved[e, i]` of `counted[e, i]` episodes of task i were resolved by entrant e.
    """
    import numpy

    played = counted > 0
    shares = numpy.divide(resolved, counted, out=numpy.zeros(counted.shape), where=played)
    p_values: dict[tuple[int, int], float] = {}
    several: dict[tuple[int, int], Any] = {}
    for first, second in combinations(range(len(counted)), 2):
        shared = played[first] & played[second]
        gaps = numpy.where(shared, shares[second] - shares[first], 0.0)
        attempts = numpy.unique(counted[[first, second]][:, shared]).tolist()
        whole = bool((resolved[[first, second]][:, shared] % 1 == 0).all())
        if attempts == [1] and whole:
            p_values[first, second] = score.mcnemar(int((gaps > 0).sum()), int((gaps < 0).sum()))
        elif attempts:
            p_values[first, second] = 1.0  # reserves its place in the order; the value is set below
            several[first, second] = flips.as_integers(gaps, _parts(attempts, whole=whole))
    if several:
        p_values |= zip(several, flips.p_values(numpy.array(list(several.values()))), strict=True)
    return p_values


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of several comparisons, corrected by Holm (1979, Scandinavian J. of Statistics 6:65)."""
    corrected, floor = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        floor = max(floor, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = floor
    return corrected


def holm_levels(p_values: Sequence[float], alpha: float = ALPHA) -> list[float]:
    """The levels of the intervals that belong to p-values corrected by `holm`: one interval for each comparison.

    A comparison's level is that at which Holm tests it; those from the first that is not significant on share its
    level. So an interval that covers 1 - level leaves 0 out if and only if the corrected p-value is below alpha, and
    with one comparison it is the usual one (Strassburger and Bretz 2008, Statistics in Medicine 27:4914).
    """
    levels, level, are_clear = [alpha] * len(p_values), alpha, True
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if are_clear:
            level = alpha / (len(p_values) - rank)
            are_clear = p_values[place] < level
        levels[place] = level
    return levels
