"""Many entrants at once: who can be ranked with whom, ranks from paired differences, and what errors may hide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stackrank.db.stats import stratified
from stackrank.db.stats.pairs import Played, holm, pair_p_values
from stackrank.db.stats.rates import ALPHA

ENOUGH = 0.8
"""An entrant is ranked if it has counted at least this share of the tasks that the others are ranked on."""


def ranked_together(counted: Any) -> tuple[list[bool], list[bool]]:
    """Return which entrants are ranked, and on which tasks, from `counted[e, i]` episodes of entrant e on task i.

    Entrants are ranked together if they have counted enough of the tasks of one of them, namely the one with which the
    most entrants share the most tasks. The board's tasks are those that at least half of the ranked have counted.
    """
    import numpy

    played = (counted > 0).astype(int)
    shared = played @ played.T
    enough = (shared >= ENOUGH * shared.diagonal()[:, None]) & (shared > 0)
    with_whom = int((enough * shared).sum(axis=1).argmax())
    ranked = enough[with_whom]
    tasks = 2 * played[ranked].sum(axis=0) >= max(1, ranked.sum())
    return numpy.asarray(ranked).tolist(), numpy.asarray(tasks).tolist()


def rank_ranges(resolved: Any, counted: Any) -> list[tuple[int, int]]:
    """Return the best and the worst rank that each entrant can have. Entrants tie if their difference may be chance.

    An entrant is above another if their paired difference has p < 0.05 after Holm's correction over all pairs of the
    board. The best rank is one more than the number of entrants above. Columns (tasks) have to be in the order that
    `compare` takes, so that both have the same p-values.
    """
    import numpy

    played = counted > 0
    shares = numpy.divide(resolved, counted, out=numpy.zeros(counted.shape), where=played)
    found = pair_p_values(resolved, counted)
    ranges = [[1, len(counted)] for _ in counted]
    for (first, second), p_value in zip(found, holm(list(found.values())), strict=True):
        if p_value < ALPHA:
            gap = (shares[second] - shares[first])[played[first] & played[second]].sum()
            above, below = (second, first) if gap > 0 else (first, second)
            ranges[below][0] += 1
            ranges[above][1] -= 1
    return [(best, worst) for best, worst in ranges]


def leads(resolved: Any, counted: Any) -> tuple[list[float], list[tuple[int, float, float]]]:
    """Return how far each entrant is ahead of another on the tasks that both played, as a mean over the others (-1..1).

    Also return how many tasks it played, with the mean rates of the others on those and on all of their tasks. An
    entrant that played all tasks leads by as much as its rate is above the others'; one that played only easy tasks
    gains nothing by that.
    """
    import numpy

    played = (counted > 0).astype(float)
    shares = numpy.divide(resolved, counted, out=numpy.zeros(counted.shape), where=counted > 0)
    shared = played @ played.T  # entrant x entrant: tasks of both
    own = numpy.divide(shares @ played.T, shared, out=numpy.zeros(shared.shape), where=shared > 0)
    gaps, met = own - own.T, shared > 0
    numpy.fill_diagonal(met, False)
    others = numpy.maximum(1, met.sum(axis=1))
    ahead = (gaps * met).sum(axis=1) / others
    there = (own.T * met).sum(axis=1) / others
    everywhere = (own.diagonal()[None, :] * met).sum(axis=1) / others
    tasks = played.sum(axis=1).astype(int)
    return ahead.tolist(), list(zip(tasks.tolist(), there.tolist(), everywhere.tolist(), strict=True))


def error_bounds(played: Sequence[tuple[int, int, int]]) -> tuple[float, float] | None:
    """Return the rate if all errors were failures, and if all were successes; a task is (resolved, counted, errors)."""
    tasks = [(r, n, e) for r, n, e in played if n + e]
    if not tasks:
        return None
    low = sum(r / (n + e) for r, n, e in tasks) / len(tasks)
    return low, low + sum(e / (n + e) for _, n, e in tasks) / len(tasks)


def error_balance(errors: Any, episodes: Any) -> list[float]:
    """Test for each entrant if it has as many errors as the others on the same tasks; p-values corrected by Holm.

    `errors[e, i]` of `episodes[e, i]` episodes of entrant e on task i. The test is exact, for fixed tasks
    (`stratified`).
    """
    total, everything = errors.sum(axis=0), episodes.sum(axis=0)
    found = []
    for own, tried in zip(errors, episodes, strict=True):
        hit = (total > 0) & (total < everything)
        some: list[Played] = list(zip(own[hit].tolist(), tried[hit].tolist(), strict=True))
        rest: list[Played] = list(zip((total - own)[hit].tolist(), (everything - tried)[hit].tolist(), strict=True))
        found.append(stratified.p_value(some, rest))
    return holm(found)
