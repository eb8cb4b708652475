"""Alarms over the nights of a series: rare on quiet nights, quick and lasting after a drop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy

from stackrank.db import stats
from tests.bench.statistics import Line, share

ENTRANTS, TASKS, EARLIER, AFTER, DROP = 10, 150, 10, 6, 0.1


def table(simulations: int) -> list[Line]:
    """Ten entrants on 150 tasks x 1; quiet series, and series in which one entrant drops by 10 points for good."""
    series = max(20, simulations // 10)
    dice = numpy.random.default_rng(31)
    quiet = [alarm for _ in range(series) for alarm in _alarms(dice, drop=0.0)]
    lines = [share("quiet nights with an alarm, 10 entrants", sum(map(bool, quiet)), len(quiet), at_most=0.05)]
    dropped = [_alarms(dice, drop=DROP) for _ in range(series)]
    first = [[0 in night for night in nights] for nights in dropped]
    lines.append(share("a drop of 10 points is found the first night", sum(n[0] for n in first), series))
    lines.append(share("found within three nights", sum(any(n[:3]) for n in first), series, at_least=0.7))
    later = [night for nights in first if any(nights[:3]) for night in nights[nights.index(True) + 1 :]]
    lines.append(share("and reported each night after", sum(later), max(1, len(later)), at_least=0.8))
    return lines


def _alarms(dice: numpy.random.Generator, *, drop: float) -> list[set[int]]:
    """Which entrants are reported as worse in each night after the earlier ones; the first one drops."""
    chances = dice.beta(0.9, 1.1, TASKS) * numpy.ones((ENTRANTS, 1))
    fallen = chances.copy()
    fallen[0] *= 1 - drop / chances[0].mean()
    nights: list[list[stats.RunScores]] = [[] for _ in range(ENTRANTS)]
    alarms = []
    for number in range(EARLIER + AFTER):
        played: Any = dice.random(chances.shape) < (chances if number < EARLIER else fallen)
        rows = [[(int(resolved_count), 1) for resolved_count in row] for row in played]
        changes = [stats.compare_with_baseline(earlier, row) for earlier, row in zip(nights, rows, strict=True)]
        corrected = iter(stats.holm([change.p_value for change in changes if change]))
        worse = [change is not None and next(corrected) < stats.ALPHA and change.difference < 0 for change in changes]
        for entrant, (row, change) in enumerate(zip(rows, changes, strict=True)):
            night_rows = nights[entrant]
            night_rows.append(stats.RunScores(row))
            if change and worse[entrant]:
                night_rows[-change.runs :] = [replace(night, worse=True) for night in night_rows[-change.runs :]]
        if number >= EARLIER:
            alarms.append({entrant for entrant in range(ENTRANTS) if worse[entrant]})
    return alarms
