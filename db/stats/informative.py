"""The order in which tasks tell most about who is better, and the weights that keep estimates unbiased.

Tasks that everybody resolves, or nobody, tell nothing about a difference. Earlier results say which tasks those are
likely to be: a model of difficulties (`abilities`) predicts how much two entrants can differ on each task. Tasks are
sorted into strata by that; those of a telling stratum come early, and a few of every other stratum come with them, each
at random within its stratum. A task counts with the inverse of its stratum's rate, so the mean of the weighted gaps
estimates the mean over all tasks (Horvitz and Thompson 1952, JASA 47:663).

Order and weights depend on earlier results alone. So under the hypothesis that a coin decides the sides of each task,
the gaps are a walk with fair signs in any such order, and `sequential` holds; its clock is the predicted information.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

STRATA = 5
LEAST_RATE, MOST_RATE = 0.15, 3.0
"""A stratum is sampled at a rate between these, however little or much it seems to tell: weights stay bounded."""
_NODES = 21
_LEAST_SPREAD = 1.0
"""How much entrants differ, in logits, unless earlier ones differ more."""


class DealtTask(NamedTuple):
    """What a task counts for, at its place in the order of play."""

    weight: float
    """For estimates. The mean is 1; 0 once the most telling stratum is exhausted, because then no sample is left."""
    clock: float
    """The share of the predicted information that the tasks so far have, this one included."""


def deal_tasks(telling: Mapping[str, float], seed: int) -> list[str]:
    """Return the tasks in the order of play. `telling`: how much each task tells, in any unit; `seed` fixes chance.

    If all tell the same, the order is random.
    """
    dice = random.Random(seed)
    turns: list[tuple[float, str]] = []
    for stratum, rate in _strata(telling):
        start, members = dice.random(), dice.sample(stratum, len(stratum))
        turns += [((number + start) / len(stratum) / rate, task) for number, task in enumerate(members)]
    return [task for _, task in sorted(turns)]


def weigh_tasks(order: Sequence[str], telling: Mapping[str, float]) -> list[DealtTask]:
    """Return what each task of `deal_tasks` counts for, in that order."""
    rates = {task: rate for stratum, rate in _strata(telling) for task in stratum}
    last = max((place for place, task in enumerate(order) if rates[task] == max(rates.values())), default=-1)
    in_sample = [1 / rates[task] if place <= last else 0.0 for place, task in enumerate(order)]
    scale = (last + 1) / max(1e-9, sum(in_sample))
    total = sum(telling.values())
    clock = [min(1.0, part / total) for part in accumulate(telling[task] for task in order)]
    return [DealtTask(scale * weight, time) for weight, time in zip(in_sample, clock, strict=True)]


def _strata(telling: Mapping[str, float]) -> list[tuple[list[str], float]]:
    """Return the strata, the least telling first, each with the rate at which its tasks are sampled."""
    tasks = sorted(telling, key=lambda task: (telling[task], task))
    if not tasks or telling[tasks[0]] == telling[tasks[-1]]:
        return [(tasks, 1.0)] if tasks else []
    mean = sum(telling.values()) / len(tasks)
    parts = [tasks[n * len(tasks) // STRATA : (n + 1) * len(tasks) // STRATA] for n in range(STRATA)]
    means = [(part, sum(telling[task] for task in part) / len(part)) for part in parts if part]
    return [(part, min(MOST_RATE, max(LEAST_RATE, (of_part / mean) ** 2))) for part, of_part in means]


def predict_telling(resolved: Any, counted: Any) -> list[float]:
    """Return how much each task tells: the predicted variance of the gap of two entrants at one attempt, in 0..0.5.

    `resolved[e, i]` of `counted[e, i]` earlier episodes of entrant e on task i. A task without earlier episodes is like
    any task; without any episode, all tasks tell the same.
    """
    import numpy
    from scipy.special import expit

    from stackrank.db.stats.abilities import fit_abilities
    from stackrank.db.stats.rates import NORMAL

    resolved, counted = numpy.asarray(resolved, float), numpy.asarray(counted, float)
    rows, seen = counted.sum(axis=1) > 0, counted.sum(axis=0) > 0
    if not rows.any():
        return [0.5] * counted.shape[1]
    model = fit_abilities(resolved[rows][:, seen], counted[rows][:, seen])
    abilities = numpy.array([entrant.ability for entrant in model.entrants])
    difficulties, errors = numpy.zeros(len(seen)), numpy.full(len(seen), max(model.spread, _LEAST_SPREAD))
    difficulties[seen] = [task.difficulty for task in model.tasks]
    errors[seen] = [(task.high - task.low) / 2 / NORMAL for task in model.tasks]
    spread = max(_LEAST_SPREAD, float(abilities.std(ddof=1)) if len(abilities) > 2 else 0.0)
    nodes, weights = numpy.polynomial.hermite_e.hermegauss(_NODES)
    scale = numpy.hypot(errors, spread)
    chances = expit(abilities.mean() - difficulties[:, None] + scale[:, None] * nodes)
    variance = (2 * chances * (1 - chances)) @ (weights / weights.sum())
    # Rounded, so that equal results tell the same, and never 0.
    return [max(1e-4, float(value)) for value in variance.round(4)]
