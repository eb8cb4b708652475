"""Early stopping: the rate of wrong decisions, and the episodes saved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy
from scipy.optimize import brentq

from stackrank.db.stats.pairs import holm
from stackrank.db.stats.score import mcnemar
from stackrank.db.stats.sequential import Walk, decide, sequence_interval
from stackrank.terms import Decision
from tests.bench.statistics import Line, share

ALPHA = 0.05
SPREAD, TASTE = 2.5, 0.7
"""How much tasks differ for all, and for each entrant apart: standard deviations on the logit scale."""
SAVING = 0.4
BOARDS = [(150, 3, (0.4, 0.5)), (300, 3, (0.4, 0.5, 0.6)), (500, 1, (0.4, 0.5))]
"""Tasks, attempts and the true rates of the entrants, on which so much has to be saved."""


@cache
def _shift(rate: float) -> float:
    """The ability on the logit scale with which an entrant resolves this share of all tasks."""
    tasks = numpy.random.default_rng(0).normal(0, numpy.hypot(SPREAD, TASTE), 20_000)
    return float(brentq(lambda shift: float((1 / (1 + numpy.exp(-tasks - shift))).mean()) - rate, -20, 20))


def rates(dice: numpy.random.Generator, tasks: int, attempts: int, truths: tuple[float, ...]) -> Any:
    """The share of attempts at which each entrant resolves each task: entrants x tasks."""
    ease = dice.normal(0, SPREAD, tasks)
    logits = [ease + dice.normal(0, TASTE, tasks) + _shift(truth) for truth in truths]
    return dice.binomial(attempts, 1 / (1 + numpy.exp(-numpy.array(logits)))) / attempts


@dataclass(frozen=True, slots=True)
class Played:
    """A simulated run: the share of its episodes that were played, and the pairs that were decided."""

    share: float
    decisions: dict[tuple[int, int], Decision]
    tasks: int
    """That the last two played."""


def play(shares: Any) -> Played:
    """The run task by task, looked at after each."""
    entrants, tasks = shares.shape
    pairs = list(combinations(range(entrants), 2))
    walks = [Walk((shares[b] - shares[a]).tolist(), ALPHA, tasks) for a, b in pairs]
    p_values = [walk.p_values() for walk in walks]
    decisions: dict[tuple[int, int], Decision] = {}
    episodes = 0
    for played_tasks in range(tasks):
        corrected = holm([path[played_tasks] for path in p_values])
        for place, pair in enumerate(pairs):
            if pair not in decisions and corrected[place] <= ALPHA:
                up = walks[place].first_out(p_values[place][played_tasks])
                decisions[pair] = Decision.AHEAD if up > 0 else Decision.BEHIND
        episodes += len({entrant for pair in pairs if pair not in decisions for entrant in pair})
        if len(decisions) == len(pairs):
            break
    return Played(episodes / (entrants * tasks), decisions, played_tasks + 1)


def table(simulations: int) -> list[Line]:
    """False decisions over all looks; intervals at all times; and what is saved where entrants differ by 10 points."""
    lines = []
    for tasks, attempts, entrants in ((150, 1, 2), (150, 3, 4), (500, 1, 3)):
        dice = numpy.random.default_rng(21)
        wrong = sum(bool(play(rates(dice, tasks, attempts, (0.5,) * entrants)).decisions) for _ in range(simulations))
        name = f"{entrants} equal entrants, {tasks} x {attempts}: any decision at any look"
        lines.append(share(name, wrong, simulations, at_most=ALPHA))
    lines += _boards(simulations)
    lines.append(_wrongly_equal(simulations))
    lines.append(_outside(simulations))
    for tasks, attempts, truths in BOARDS:
        boards = min(simulations, 500)
        dice = numpy.random.default_rng(22)
        runs = [play(rates(dice, tasks, attempts, truths)) for _ in range(boards)]
        name = f"{len(truths)} entrants 10 points apart, {tasks} x {attempts}"
        saved = 1 - float(numpy.mean([run.share for run in runs]))
        lines.append(Line(f"{name}: episodes saved", f"{saved:.1%}", f">= {SAVING:.0%}", saved >= SAVING))
        backwards = sum(Decision.BEHIND in run.decisions.values() for run in runs)
        lines.append(share(f"{name}: a wrong decision", backwards, boards, at_most=ALPHA))
    return lines


def _boards(simulations: int) -> list[Line]:
    """What the ordinary test and the ordinary difference say of runs that may have ended early."""
    dice, hits, gaps = numpy.random.default_rng(25), 0, []
    for _ in range(simulations):
        shares = rates(dice, 300, 1, (0.5, 0.5))
        gap = (shares[1] - shares[0])[: play(shares).tasks]
        hits += mcnemar(int((gap > 0).sum()), int((gap < 0).sum())) < ALPHA
    for _ in range(min(simulations, 500)):
        shares = rates(dice, 300, 3, (0.45, 0.55))
        gaps.append(float((shares[1] - shares[0])[: play(shares).tasks].mean()))
    excess = 100 * (float(numpy.mean(gaps)) - 0.1)
    return [
        Line("2 equal entrants, 300 x 1: p < 0.05 on the board", f"{hits / simulations:.1%}", "shown", True),
        Line("2 entrants 10 points apart, 300 x 3: the board's mean gap", f"{excess:+.1f} pts", "shown", True),
    ]


def _wrongly_equal(simulations: int) -> Line:
    """Two that differ by just the margin must not be called equal."""
    dice, wrong = numpy.random.default_rng(23), 0
    for _ in range(simulations):
        first, second = rates(dice, 300, 3, (0.45, 0.55))
        (state,) = decide([(second - first).tolist()], ALPHA, horizon=300, equal_within=0.1)
        wrong += state.decision in (Decision.EQUAL, Decision.BEHIND)
    return share("10 points apart, called equal within 10", wrong, simulations, at_most=ALPHA)


def _outside(simulations: int) -> Line:
    """The interval is looked at after every task: it may miss the truth at none of them, 5% of the runs aside."""
    dice, misses = numpy.random.default_rng(24), 0
    for _ in range(simulations):
        first, second = rates(dice, 150, 1, (0.45, 0.55))
        # It only ever shrinks, so the last one tells whether any missed.
        low, high = sequence_interval((second - first).tolist(), ALPHA, horizon=150)
        misses += not low <= 0.1 <= high
    return share("the interval misses the truth at any look", misses, simulations, at_most=ALPHA)
