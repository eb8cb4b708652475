"""Rates, costs and paired comparisons: short formulas, each with its source."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import optimize, stats

ALPHA, MIN_SHARED, FINEST = 0.05, 0.8, 60
NORMAL = float(stats.norm.ppf(1 - ALPHA / 2))


def holm(p_values: list[float]) -> list[float]:
    """Correct p-values of several comparisons (Holm 1979)."""
    order, floor, corrected = np.argsort(p_values, kind="stable"), 0.0, [0.0] * len(p_values)
    for rank, place in enumerate(order):
        floor = corrected[place] = max(floor, min(1.0, (len(p_values) - rank) * p_values[place]))
    return corrected


def wilson(share: float, size: float) -> tuple[float, float, float]:
    """Return a share with its score interval (Wilson 1927)."""
    spread = NORMAL**2 / size
    centre = (share + spread / 2) / (1 + spread)
    reach = math.sqrt(spread * (share * (1 - share) + spread / 4)) / (1 + spread)
    return share, min(share, max(0.0, centre - reach)), max(share, min(1.0, centre + reach))


def is_whole(resolved: Any) -> bool:
    """Whether these sums of outcomes count whole episodes, and are no shares of mended faults."""
    return bool((np.asarray(resolved) % 1 == 0).all())


def mean_outcome(outcomes: Any, counted: Any) -> tuple[float | None, float | None, float | None]:
    """Return the mean over tasks of sums of outcomes, with its interval. If these are shares of mended faults: Wilson's
    at the effective size that follows from how much the tasks differ."""
    shares = outcomes / counted
    if is_whole(outcomes):
        return mean_share(shares, counted)
    share, tasks = float(np.mean(shares)), len(shares)
    error = float(np.var(shares, ddof=1)) / tasks if tasks > 1 else 0.0
    if error == 0:
        return wilson(share, tasks)
    return wilson(share, share * (1 - share) / error * (NORMAL / stats.t.ppf(1 - ALPHA / 2, tasks - 1)) ** 2)


def mean_share(shares: Any, counted: Any) -> tuple[float | None, float | None, float | None]:
    """Return the mean over tasks with its interval: Wilson's, at the effective size if tasks have several episodes
    (Korn and Graubard 1998), with two tasks always and two never resolved added for the variance."""
    tasks = len(shares)
    if not tasks:
        return None, None, None
    share = float(np.mean(shares))
    if max(counted) == 1 or tasks == 1:
        return wilson(share, tasks)
    middle = (np.sum(shares) + 2) / (tasks + 4)
    variance = (np.sum(np.square(shares)) + 2) / (tasks + 4) - middle**2
    smaller = NORMAL / stats.t.ppf(1 - ALPHA / 2, tasks - 1)
    size = min(tasks**2 / np.sum(1 / np.asarray(counted)), (tasks - 1) * middle * (1 - middle) / variance * smaller**2)
    return wilson(share, float(size))


def cost_interval(costs: Any, resolved: Any) -> tuple[float | None, float | None, float | None]:
    """Return the cost of a resolved episode with its interval (Fieller 1954); costs and numbers by task."""
    n, solved = len(costs), float(np.sum(resolved))
    if not solved:
        return None, None, None
    ratio = float(np.sum(costs)) / solved
    if ratio == 0 or n < 2:
        return (0.0, 0.0, 0.0) if ratio == 0 else (ratio, None, None)
    spread, reach = np.cov(costs, resolved), stats.t.ppf(1 - ALPHA / 2, n - 1) ** 2 / n
    a = (solved / n) ** 2 - reach * spread[1, 1]
    b = np.mean(costs) * solved / n - reach * spread[0, 1]
    c = np.mean(costs) ** 2 - reach * spread[0, 0]
    root = math.sqrt(max(0.0, b * b - a * c))
    if a <= 0:
        return ratio, max(0.0, (b - root) / a) if a < 0 and c > 0 else 0.0, None
    return ratio, max(0.0, (b - root) / a), (b + root) / a


def flip_p(gaps: Any, parts: int) -> float:
    """Return the exact p-value of the mean gap if a coin had decided the sides of each task (Good 2005)."""
    whole = np.rint(gaps * min(parts, FINEST)).astype(int)
    sizes = np.abs(whole[whole != 0])
    lost, chances = (int(sizes.sum()) - abs(int(whole.sum()))) // 2, np.ones(1)
    for size, times in zip(*np.unique(sizes, return_counts=True), strict=True):
        sums = np.zeros(size * times + 1)  # of the gaps of this size that one side loses
        sums[::size] = stats.binom.pmf(np.arange(times + 1), times, 0.5)
        chances = np.convolve(chances, sums)
    least = 0.5 ** len(sizes)
    return float(min(1.0, 2 * (max(chances[: lost + 1].sum(), least) if lost else least)))


def flip_interval(gaps: Any, p_value: float, draws: int, seed: int, whole: bool) -> tuple[float, float]:
    """Return the interval that inverts the test: typical values over sets of tasks (Hartigan 1969), which are all sets
    or, if those are more than `draws`, sets drawn with the seed. `whole`: see `is_whole`."""
    tasks, mean = len(gaps), float(np.mean(gaps))
    if p_value < ALPHA or tasks > 5:
        if 2**tasks <= draws:
            sets = (np.arange(2**tasks)[:, None] >> np.arange(tasks) & 1).astype(bool)
        else:
            bits = np.random.default_rng(seed).integers(0, 256, (draws, -(-tasks // 8)), np.uint8)
            sets = np.unpackbits(bits, axis=1, count=tasks).astype(bool)
        sizes = sets.sum(axis=1)
        means = np.sort((np.round(sets @ gaps, 10) / np.maximum(1, sizes))[sizes > 0])
        place = max(0, math.ceil(ALPHA / 2 * (len(means) + 1)) - 2)
        low, high = float(means[place]), float(means[-1 - place])
        if p_value < ALPHA and low <= 0 <= high:
            low, high = (float(means[means > 0][0]), high) if mean > 0 else (low, float(means[means < 0][-1]))
    else:
        spread = float(np.std(gaps, ddof=1)) if tasks > 1 else 1.0
        reach = stats.t.ppf(1 - ALPHA / 2, max(1, tasks - 1)) * spread / math.sqrt(tasks)
        low, high = max(-1.0, mean - reach), min(1.0, mean + reach)
    if p_value >= ALPHA and not whole and gaps.any():
        low, high = min(low, 0.0), max(high, 0.0)
    elif p_value >= ALPHA:
        least = NORMAL**2 / (tasks + NORMAL**2)
        low, high = min(low, max(-1.0, mean - least), 0.0), max(high, min(1.0, mean + least), 0.0)
    return low, high


def tango(better: int, worse: int, tasks: int, p_value: float) -> tuple[float, float]:
    """Return the score interval of a paired difference of single attempts (Tango 1998)."""

    def statistic(d: float) -> float:
        b, c = -better - worse + (2 * tasks - better + worse) * d, -worse * d * (1 - d)
        lost = max(0.0, (math.sqrt(max(0.0, b * b - 8 * tasks * c)) - b) / (4 * tasks))
        variance, distance = tasks * (2 * lost + d * (1 - d)), better - worse - tasks * d
        if abs(distance) < 1e-12:
            return 0.0
        return distance / math.sqrt(variance) if variance > 1e-15 else math.copysign(1e9, distance)

    middle, ends = (better - worse) / tasks, []
    for end, sign in ((-1.0, 1), (1.0, -1)):
        beyond = sign * statistic(end) > NORMAL
        crossing = (
            optimize.brentq(lambda d, s=sign: s * statistic(d) - NORMAL, middle, end, xtol=1e-13) if beyond else end
        )
        ends.append(float(crossing))
    low, high = ends
    return (min(low, 0.0), max(high, 0.0)) if p_value >= ALPHA else (low, high)
