"""Tasks in an informative order: episodes, decisions, ranks and estimates against those of full runs."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy
from scipy.optimize import brentq
from scipy.stats import kendalltau

from stackrank.db import stats
from stackrank.db.stats.informative import deal_tasks, predict_telling, weigh_tasks
from stackrank.db.stats.sequential import Walk, sequence_interval, weighted_gaps
from tests.bench.statistics import Line, share
from tests.bench.statistics.stopping import ALPHA, SPREAD, TASTE, _shift

EARLIER, EARLIER_ATTEMPTS = (0.35, 0.45, 0.55), 3
"""The true rates of the entrants of stored runs, and how often they tried each task."""
MOST = 0.4
"""The share of the episodes of the full run that may be needed."""
BOARDS = [(300, 3, (0.4, 0.5, 0.6), MOST), (300, 3, (0.3, 0.4, 0.5, 0.6), MOST), (150, 3, (0.4, 0.5), 0.5)]
"""Tasks, attempts and true rates of the entrants, and the share of the episodes that may be needed. Of 150 tasks, more
are needed: in about 9% of such runs even all of them decide nothing, and those are played to the end."""


class Outcome(NamedTuple):
    """A run that was replayed until it was decided: pair -> who is ahead (-1, 1)."""

    share: float
    ahead: dict[tuple[int, int], int]


class World(NamedTuple):
    """A benchmark with stored results, and a full run of new entrants: rates and true chances, entrants x tasks."""

    telling: dict[str, float]
    rates: Any
    chances: Any


def make_world(dice: numpy.random.Generator, tasks: int, attempts: int, truths: tuple[float, ...]) -> World:
    """Draw difficulties, what stored runs showed of them, and a full run."""
    ease = dice.normal(0, SPREAD, tasks)

    def chances(truth: float) -> Any:
        return 1 / (1 + numpy.exp(-(ease + dice.normal(0, TASTE, tasks) + _shift(truth))))

    stored = numpy.array([dice.binomial(EARLIER_ATTEMPTS, chances(truth)) for truth in EARLIER])
    telling = predict_telling(stored, numpy.full(stored.shape, EARLIER_ATTEMPTS))
    true = numpy.array([chances(truth) for truth in truths])
    return World({f"t{n:04}": value for n, value in enumerate(telling)}, dice.binomial(attempts, true) / attempts, true)


def replay(rates: Any, clock: list[float]) -> Outcome:
    """Replay a full run task by task in the order of its columns. An entrant plays until its pairs are decided."""
    entrants, tasks = rates.shape
    pairs = list(combinations(range(entrants), 2))
    walks = {pair: Walk((rates[pair[1]] - rates[pair[0]]).tolist(), ALPHA, tasks, clock) for pair in pairs}
    paths = {pair: walk.p_values() for pair, walk in walks.items()}
    ahead: dict[tuple[int, int], int] = {}
    episodes = 0
    for look in range(tasks + 1):
        corrected = stats.holm([path[look] for path in paths.values()])
        for pair, p_value in zip(pairs, corrected, strict=True):
            if p_value <= ALPHA and pair not in ahead:
                ahead[pair] = walks[pair].first_out(paths[pair][look])
        if len(ahead) == len(pairs):
            break
        episodes += len({entrant for pair in pairs if pair not in ahead for entrant in pair}) if look < tasks else 0
    return Outcome(episodes / (entrants * tasks), ahead)


def table(simulations: int) -> list[Line]:
    """New entrants on tasks of which stored runs show the difficulty."""
    worlds = max(20, min(200, simulations // 10))
    return [
        line for tasks, attempts, truths, most in BOARDS for line in _lines(tasks, attempts, truths, worlds, most)
    ] + [*_equals(worlds), *_crossing(worlds)]


def _lines(tasks: int, attempts: int, truths: tuple[float, ...], worlds: int, most: float) -> list[Line]:
    dice = numpy.random.default_rng(71)
    shares: dict[str, list[float]] = {"informative": [], "random": []}
    excess, kendalls = [], []
    pairs = list(combinations(range(len(truths)), 2))
    covered = wrong = agreed = clear = undecided = 0
    for seed in range(worlds):
        telling, rates, chances = make_world(dice, tasks, attempts, truths)
        order = deal_tasks(telling, seed)
        dealt = weigh_tasks(order, telling)
        places = [int(task[1:]) for task in order]
        outcome = replay(rates[:, places], [task.clock for task in dealt])
        shares["informative"].append(outcome.share)
        shares["random"].append(replay(rates, []).share)
        wins, errors = numpy.zeros(len(truths)), []
        for pair in pairs:
            gaps, true_gap = rates[pair[1]] - rates[pair[0]], float((chances[pair[1]] - chances[pair[0]]).mean())
            dealt_gaps = gaps[places].tolist()
            estimate = weighted_gaps(dealt_gaps, dealt)
            low, high = sequence_interval(estimate, ALPHA, horizon=tasks)
            covered += low <= true_gap <= high
            errors.append(float(numpy.mean(estimate)) - true_gap)
            side = outcome.ahead.get(pair, 0)
            undecided += not side
            # A pair that stays undecided has played all tasks, so its board is that of the full run.
            ahead = side or numpy.sign(gaps.mean())
            wins[pair[1]] += ahead
            wins[pair[0]] -= ahead
            wrong += side < 0
            difference = stats.paired_difference(*_scores(rates, pair, attempts))
            is_clear = difference.p_value is not None and difference.p_value < ALPHA / len(pairs)
            clear += is_clear
            agreed += is_clear and side == numpy.sign(difference.difference)
        excess.append(float(numpy.mean(errors)))  # pairs of one world are alike
        kendalls.append(float(kendalltau(rates.mean(axis=1), wins).statistic) if len(set(wins)) > 1 else 0.0)
    name = f"{len(truths)} entrants 10 points apart, {tasks} x {attempts}"
    means = {order: float(numpy.mean(values)) for order, values in shares.items()}
    bias, error = float(numpy.mean(excess)), float(numpy.std(excess) / len(excess) ** 0.5)
    count = worlds * len(pairs)
    needed, kendall = means["informative"], float(numpy.mean(kendalls))
    return [
        Line(f"{name}: episodes needed", f"{needed:.1%}", f"<= {most:.0%}", needed <= most),
        Line(f"{name}: the same in a random order", f"{means['random']:.1%}", "shown", True),
        share(f"{name}: clear at the end, decided alike", agreed, clear, at_least=0.95),
        Line(f"{name}: undecided in the end", f"{undecided / count:.1%}", "shown", True),
        share(f"{name}: a wrong decision", wrong, count, at_most=ALPHA),
        Line(f"{name}: Kendall with full ranks", f"{kendall:.3f}", ">= 0.95", kendall >= 0.95),
        Line(f"{name}: bias of the estimate", f"{100 * bias:+.2f} pts", "within 3 errors", abs(bias) <= 3 * error),
        share(f"{name}: the interval has the gap", covered, count, at_least=0.95),
    ]


def _scores(rates: Any, pair: tuple[int, int], attempts: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    first, second = ([(round(attempts * rate), attempts) for rate in rates[entrant]] for entrant in pair)
    return first, second


def _equals(worlds: int) -> list[Line]:
    dice, wrong = numpy.random.default_rng(72), 0
    boards = 4 * worlds
    for seed in range(boards):
        telling, rates, _ = make_world(dice, 150, 1, (0.5, 0.5))
        order = deal_tasks(telling, seed)
        clock = [task.clock for task in weigh_tasks(order, telling)]
        wrong += bool(replay(rates[:, [int(task[1:]) for task in order]], clock).ahead)
    return [share("2 equal entrants, 150 x 1: any decision at any look", wrong, boards, at_most=ALPHA)]


def _crossing(worlds: int) -> list[Line]:
    """The second is better on middling tasks, the first on the others, at equal mean rates: what the order gives up."""
    dice, decided, covered = numpy.random.default_rng(73), 0, 0
    for seed in range(worlds):
        ease = dice.normal(0, SPREAD, 300)
        middling = numpy.abs(ease) < numpy.median(numpy.abs(ease))
        first = 1 / (1 + numpy.exp(-ease))
        lost = brentq(lambda d, e=ease, m=middling, f=first: _mean(e + numpy.where(m, 0.5, d)) - f.mean(), -9, 9)
        chances = numpy.array([first, 1 / (1 + numpy.exp(-(ease + numpy.where(middling, 0.5, lost))))])
        stored = dice.binomial(EARLIER_ATTEMPTS, numpy.tile(first, (3, 1)))
        predicted = predict_telling(stored, numpy.full(stored.shape, EARLIER_ATTEMPTS))
        telling = {f"t{n:04}": value for n, value in enumerate(predicted)}
        order = deal_tasks(telling, seed)
        dealt = weigh_tasks(order, telling)
        rates = (dice.binomial(3, chances) / 3)[:, [int(task[1:]) for task in order]]
        decided += bool(replay(rates, [task.clock for task in dealt]).ahead)
        low, high = sequence_interval(weighted_gaps((rates[1] - rates[0]).tolist(), dealt), ALPHA, horizon=300)
        covered += low <= 0 <= high
    name = "equal rates, better on different tasks, 300 x 3"
    return [
        Line(f"{name}: decided", f"{decided / worlds:.1%}", "shown", True),
        share(f"{name}: the interval has the gap", covered, worlds, at_least=0.95),
    ]


def _mean(logits: Any) -> float:
    return float((1 / (1 + numpy.exp(-logits))).mean())
