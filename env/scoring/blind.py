"""Blind runs: each run contradicts some expectations, and nothing in the process tells which.

Every unit (a test function, or one case of it) is contradicted in at least one run, and is as its author wrote it in at
least one. A random draw for each unit decides in which, and each run has a fresh sandbox. Two runs are enough if many
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
    units = [[option for option in options if option in allowed] for options in proof.units.values()]
    units = [options for options in units if options]
    telling = [options for options in units if _tells_forgers(task, proof, options)]
    third = len(telling) < ENOUGH and any(len(options) > 1 for options in telling)
    runs: list[list[Contradiction]] = [[] for _ in range(3 if third else 2)]
    for options in units:
        order = secrets.SystemRandom().sample(options, len(options))
        hidden = options[0].path in task.hidden_files
        places = secrets.choice(_places(len(runs))) if hidden else (1,)
        for turn, place in enumerate(places):
            runs[place].append(order[turn % len(order)])
    return Plan(runs, math.floor(sum(math.log2(min(len(options), 3) + 1) if third else 1 for options in telling)))


def can_seal(task: Task, proof: Proof) -> bool:
    """Whether verdicts by this proof can be sealed."""
    return any(_tells_forgers(task, proof, options) for options in proof.units.values())


def _places(runs: int) -> list[tuple[int, ...]]:
    """Return every choice of some of the runs, but not all of them."""
    return [choice for size in range(1, runs) for choice in combinations(range(runs), size)]


def _tells_forgers(task: Task, proof: Proof, options: Sequence[Contradiction]) -> bool:
    """Whether a forger can only guess which answer a unit wants."""
    return all(
        contradiction.path in task.hidden_files
        and not contradiction.telling
        and contradiction.both_ways
        and _shows_bug(task, proof, contradiction)
        for contradiction in options
    )


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
