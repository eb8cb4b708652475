"""Many entrants at once: who can be ranked with whom, ranks from paired differences, and what errors may hide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stackrank.db.stats import stratified
from stackrank.db.stats.pairs import TaskCount, holm, pair_p_values
from stackrank.db.stats.rates import ALPHA

MIN_SHARED = 0.8
"""An entrant is ranked if it has counted at least this share of the tasks that the others are ranked on."""


def ranked_together(counted: Any) -> tuple[list[bool], list[bool]]:
    """Return which entrants are ranked, and on which tasks, from `counted[e, i]` episodes of entrant e on task i.

    Entrants are ranked together if they have counted enough of the tasks of one of them, namely the one with which the
    most entrants share the most tasks. The board's tasks are those that at least half of the ranked have counted.
    """
    import numpy

    played = (counted > 0).astype(int)
    shared = played @ played.T
    shares_enough = (shared >= MIN_SHARED * shared.diagonal()[:, None]) & (shared > 0)
    anchor = int((shares_enough * shared).sum(axis=1).argmax())
    ranked = shares_enough[anchor]
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
    by_pair = pair_p_values(resolved, counted)
    ranges = [[1, len(counted)] for _ in counted]
    for (first, second), p_value in zip(by_pair, holm(list(by_pair.values())), strict=True):
        if p_value < ALPHA:
            gap = (shares[second] - shares[first])[played[first] & played[second]].sum()
            above, below = (second, first) if gap > 0 else (first, second)
            ranges[below][0] += 1
            ranges[above][1] -= 1
    return [(best, worst) for best, worst in ranges]


def mean_leads(resolved: Any, counted: Any) -> tuple[list[float], list[tuple[int, float, float]]]:
    """Return how far each entrant is ahead of another on the tasks that both played, as a mean over the others (-1..1).

    Also return how many tasks it played, with the mean rates of the others on those and on all of their tasks. An
    entrant that played all tasks leads by as much as its rate is above the others'; one that played only easy tasks
    gains nothing by that.
    """
    import numpy

    played = (counted > 0).astype(float)
    shares = numpy.divide(resolved, counted, out=numpy.zeros(counted.shape), where=counted > 0)
    shared = played @ played.T  # entrant x entrant: tasks of both
    rates = numpy.divide(shares @ played.T, shared, out=numpy.zeros(shared.shape), where=shared > 0)
    gaps, have_met = rates - rates.T, shared > 0
    numpy.fill_diagonal(have_met, False)
    opponents = numpy.maximum(1, have_met.sum(axis=1))
    ahead = (gaps * have_met).sum(axis=1) / opponents
    others_on_played = (rates.T * have_met).sum(axis=1) / opponents
    others_on_all = (rates.diagonal()[None, :] * have_met).sum(axis=1) / opponents
    tasks = played.sum(axis=1).astype(int)
    return ahead.tolist(), list(zip(tasks.tolist(), others_on_played.tolist(), others_on_all.tolist(), strict=True))


def error_bounds(played: Sequence[tuple[float, int, int]]) -> tuple[float, float] | None:
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
    all_errors, all_episodes = errors.sum(axis=0), episodes.sum(axis=0)
    p_values = []
    for own_errors, own_episodes in zip(errors, episodes, strict=True):
        is_informative = (all_errors > 0) & (all_errors < all_episodes)
        own_counts: list[TaskCount] = list(
            zip(own_errors[is_informative].tolist(), own_episodes[is_informative].tolist(), strict=True)
        )
        other_counts: list[TaskCount] = list(
            zip(
                (all_errors - own_errors)[is_informative].tolist(),
                (all_episodes - own_episodes)[is_informative].tolist(),
                strict=True,
            )
        )
        p_values.append(stratified.p_value(own_counts, other_counts))
    return holm(p_values)
