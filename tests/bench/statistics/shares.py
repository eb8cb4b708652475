"""Shares of mended faults: coverage, false positives, and how many episodes tell two entrants apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from stackrank.db import stats
from stackrank.db.stats.planning import Spread, needed_tasks, spread
from stackrank.db.stats.sequential import decide
from stackrank.extensions.marathon.benchmark import RELEASES
from tests.bench.statistics import Line, share

POOL = 138
"""Faults from which releases are drawn, as in `marathon`."""
SIZES = [size for size, count in RELEASES.items() for _ in range(count)]
POWER = ((0.0, 60), (0.35, 120))
"""How much the ability of an entrant varies between episodes, and how many episodes tell 5 points apart then."""


class World(NamedTuple):
    """Two entrants on releases drawn from a pool of faults."""

    name: str
    releases: int
    attempts: int
    rates: tuple[float, float]
    luck: float = 0.35
    """How much the ability of an entrant varies between episodes, as a standard deviation in logits."""


WORLDS = [
    World("middle", 30, 1, (0.47, 0.52)),
    World("few releases", 9, 1, (0.47, 0.52)),
    World("three attempts", 12, 3, (0.47, 0.52)),
    World("near the ceiling", 30, 1, (0.92, 0.95)),
    World("near the floor", 30, 1, (0.05, 0.08)),
]


def table(simulations: int) -> list[Line]:
    """Coverage of rates and differences, the size of the test, and its power at 5 points."""
    return [line for world in WORLDS for line in _lines(simulations, world)] + [
        line for luck, most in POWER for line in _power(simulations, luck, most)
    ]


def _lines(simulations: int, world: World) -> list[Line]:
    setup = f"{world.name}, {world.releases} releases x {world.attempts}"
    rates, differences, quiet, agreed = 0, 0, 0, 0
    for seed in range(simulations):
        (first, second), truths = _play(world, seed)
        estimate = stats.rate([total for total, _ in first], [count for _, count in first])
        rates += estimate.low is not None and estimate.high is not None and estimate.low <= truths[0] <= estimate.high
        gap = stats.paired_difference(first, second)
        assert gap.low is not None and gap.high is not None and gap.p_value is not None
        differences += gap.low <= truths[1] - truths[0] <= gap.high
        agreed += (gap.p_value < stats.ALPHA) == (gap.low > 0 or gap.high < 0)
        (first, second), _ = _play(world._replace(rates=(world.rates[0],) * 2), seed, alike=True)
        p_value = stats.paired_difference(first, second).p_value
        quiet += p_value is not None and p_value < stats.ALPHA
    return [
        share(f"share covered: {setup}", rates, simulations, at_least=0.93),
        share(f"difference covered: {setup}", differences, simulations, at_least=0.93),
        share(f"interval and test agree: {setup}", agreed, simulations, at_least=1.0),
        share(f"false positives: {setup}", quiet, simulations, at_most=0.05),
    ]


def _power(simulations: int, luck: float, most: int) -> list[Line]:
    """Whether `most` episodes of both entrants together tell 5 points apart, and how many a plan asks for."""
    world, found, stopped, planned = WORLDS[0]._replace(releases=most // 2, luck=luck), 0, 0, list[Spread]()
    for seed in range(simulations):
        (first, second), _ = _play(world, seed)
        gap = stats.paired_difference(first, second)
        found += gap.p_value is not None and gap.p_value < stats.ALPHA and (gap.difference or 0) > 0
        if (of := spread([list(zip(first, second, strict=True))])) is not None:
            planned.append(of)
        (first, second), _ = _play(world._replace(rates=(world.rates[0],) * 2), seed, alike=True)
        gaps = [b / m - a / n for (a, n), (b, m) in zip(first, second, strict=True)]
        stopped += decide([gaps], stats.ALPHA, horizon=len(gaps))[0].decided
    needed = 2 * float(numpy.median([needed_tasks(0.05, 1, of, stats.ALPHA) for of in planned]))
    setup = f"episodes that vary by {luck:g} logits" if luck else "episodes that vary by their faults alone"
    return [
        share(f"5 points found by {most} {setup}", found, simulations, at_least=0.8),
        share(f"alike, but decided at any look: {setup}", stopped, simulations, at_most=0.05),
        Line(f"a plan for 5 points: {setup}", f"{needed:.0f}", f"<= {most}", needed <= most),
    ]


def _play(world: World, seed: int, *, alike: bool = False) -> tuple[list[list[stats.TaskScore]], list[float]]:
    """Return the scores of two entrants on each release, and their true rates. `alike`: their chances are equal."""
    dice = numpy.random.default_rng((seed, world.releases, world.attempts))
    hard = dice.normal(0, 1.5, POOL)
    own = numpy.repeat(dice.normal(0, 0.7, (1, POOL)), 2, axis=0) if alike else dice.normal(0, 0.7, (2, POOL))
    able = [_ability(hard - side, rate, world.luck) for side, rate in zip(own, world.rates, strict=True)]
    logits = numpy.array(able)[:, None] - hard + own
    scores: list[list[stats.TaskScore]] = [[], []]
    for release in range(world.releases):
        faults = dice.choice(POOL, SIZES[release * len(SIZES) // world.releases], replace=False)
        luck = dice.normal(0, world.luck, (2, world.attempts, 1))
        mended = dice.random((2, world.attempts, len(faults))) < _chance(logits[:, None, faults] + luck)
        for side, total in enumerate(mended.mean(axis=2).sum(axis=1).tolist()):
            scores[side].append((total, world.attempts))
    return scores, list(world.rates)


def _chance(logits: Any) -> Any:
    return 1 / (1 + numpy.exp(-logits))


def _ability(hard: Any, rate: float, luck: float) -> float:
    """Return the ability whose mean chance over faults and luck is this rate."""
    points, weights = numpy.polynomial.hermite_e.hermegauss(7)
    weights = weights / weights.sum()
    low, high = -15.0, 15.0
    for _ in range(40):
        middle = (low + high) / 2
        mean = float((_chance(middle + luck * points[:, None] - hard).mean(axis=1) * weights).sum())
        low, high = (middle, high) if mean < rate else (low, middle)
    return middle
