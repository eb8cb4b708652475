"""Blind runs: each run contradicts some expectations, and nothing in the process tells which.

Every unit (a test function, or one case of it) is contradicted in at least one run, and is as its author wrote it in at
least one. A random draw for each unit decides in which, and another one at which of its assertions: mostly one that the
program as given does not meet, but any other may be drawn too, so that nobody can repair a part of a test and leave out
the rest. Each run has a fresh sandbox. Two runs are enough if many
units tell a forger from a repair. If few do, a third run makes guessing harder. A forger who knows all texts of a unit,
but neither which of them is the author's nor which run this is, is right in at most a third of the cases if the unit
has two contradictions, and in a quarter if it has more. Visible tests are always contradicted in the second run: an
entrant knows the originals, so a draw would hide nothing, and the first run settles more without contradictions.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from stackrank.env.sandbox.guest.core.messages import message
from stackrank.env.scoring.judge import Run
from stackrank.env.scoring.proof import Contradiction, Proof
from stackrank.env.scoring.report import PASSED
from stackrank.env.task import Task

_CHANCE = secrets.SystemRandom()
ENOUGH = 3
"""The strength in bits from which on there is no third run."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of one verdict, and what each of them contradicts."""

    runs: list[list[Contradiction]]
    strength: int
    """How much a forger has to guess because the runs are blind, in whole bits. Each hidden unit counts one; with a
    third run, a unit with two contradictions counts log2(3), and a unit with more counts two.

    Only units that the bug makes fail count: for the others the program as given tells which answer is wanted.
    """


def plan(task: Task, proof: Proof, usable: Iterable[Contradiction]) -> Plan:
    """Draw the runs for one verdict at random."""
    allowed = list(usable)
    units = [
        [group for options in places if (group := [option for option in options if option in allowed])]
        for places in proof.units.values()
    ]
    telling = [groups for places in units if (groups := _telling_forgers(task, proof, places))]
    third = len(telling) < ENOUGH and any(len(options) > 1 for groups in telling for options in groups)
    runs: list[list[Contradiction]] = [[] for _ in range(3 if third else 2)]
    for places in filter(None, units):
        options = _draw(places, _telling_forgers(task, proof, places))
        order = _CHANCE.sample(options, len(options))
        hidden = options[0].path in task.hidden_files
        turns = secrets.choice(_places(len(runs))) if hidden else (1,)
        for turn, place in enumerate(turns):
            runs[place].append(order[turn % len(order)])
    bits = (math.log2(min(3, *map(len, groups)) + 1) if third else 1 for groups in telling)
    return Plan(runs, math.floor(sum(bits)))


def can_seal(task: Task, proof: Proof) -> bool:
    """Whether verdicts by this proof can be sealed."""
    return not why_not_sealable(task, proof)


def why_not_sealable(task: Task, proof: Proof) -> str:
    """Return why no verdict by this proof can be sealed; empty if one can be."""
    if not proof.contradictions:
        return proof.reason
    if not task.hidden_files:
        return message("its tests are visible")
    if all(contradiction.telling for contradiction in proof.contradictions):
        return message("no expectation in its tests can be changed")
    if not any(_telling_forgers(task, proof, places) for places in proof.units.values()):
        return message("no hidden test of the bug has an expectation that can be changed unnoticed")
    if not proof.distinguishing:
        return message("without expected values, its tests do not tell the bug from the fix")
    return ""


def _draw(places: Sequence[list[Contradiction]], telling: Sequence[list[Contradiction]]) -> list[Contradiction]:
    """Draw one assertion of a unit. `telling`: those that a forger can only guess.

    Whoever has repaired nothing has to guess these. If he leaves them out in every run, he is right if another one is
    drawn, so that must not happen more often than a good guess: in a quarter of the cases.
    """
    others = [options for options in places if options not in telling]
    return secrets.choice(telling if telling and (not others or secrets.randbelow(4)) else others)


def _places(runs: int) -> list[tuple[int, ...]]:
    """Return every choice of some of the runs, but not all of them."""
    return [choice for size in range(1, runs) for choice in combinations(range(runs), size)]


def _telling_forgers(task: Task, proof: Proof, places: Sequence[list[Contradiction]]) -> list[list[Contradiction]]:
    """Return the assertions of a unit for which a forger can only guess which answer is wanted."""

    def tells(contradiction: Contradiction) -> bool:
        is_blind = contradiction.path in task.hidden_files and not contradiction.telling and contradiction.both_ways
        return is_blind and contradiction.shows_bug and _shows_bug(task, proof, contradiction)

    return [options for options in places if all(map(tells, options))]


def _shows_bug(task: Task, proof: Proof, contradiction: Contradiction) -> bool:
    if (task.score_command or task.test_command) in contradiction.tests:
        return True  # if only its status counts, the command is the one test, whatever the task lists
    # SWE-bench's lists cut ids off at the first space. If nobody knows which tests fail, any test may show the bug.
    names = {name for test in contradiction.tests for name in (test, test.partition(" ")[0])}
    failing = task.must_pass or proof.failing
    return not failing or not names.isdisjoint(failing)


@dataclass
class Sightings:
    """What the runs of one verdict have shown so far."""

    outcomes: dict[str, str] = field(default_factory=dict)
    """Test id -> its worst outcome in runs that did not change it; `unseen` before the first such run."""
    denied: dict[str, Contradiction] = field(default_factory=dict)
    """Tests that passed although an expectation was changed. They may also pass because the program is wrong."""

    @property
    def evidence(self) -> list[str]:
        """Signs of tampering, one sentence each: tests that passed unchanged and contradicted, as no program does."""
        contradicted_tests = [test for test in self.denied if self.outcomes[test] in PASSED]
        return [
            message(f"{test} passes, and also with its expectation changed ({self.denied[test].change})")
            for test in contradicted_tests
        ]

    def add(self, run: Run, contradictions: Sequence[Contradiction]) -> None:
        """Add the outcomes of one run with these contradictions."""
        outcomes = dict(run.outcomes)
        for contradiction in contradictions:
            for test, name in contradiction.tests.items():
                outcome = outcomes.pop(name, "missing")
                if outcome in PASSED:
                    self.denied.setdefault(test, contradiction)
                elif outcome != "failed":
                    self.outcomes[test] = outcome  # it neither passes nor fails: the run was cut short
                self.outcomes.setdefault(test, "unseen")
        for test, outcome in outcomes.items():
            worst = self.outcomes.get(test, "unseen")
            if worst in ("unseen", *PASSED):
                self.outcomes[test] = outcome
