"""Tests a program without a known fix against itself: its own run shows how its tests fail when they are changed.

A program that passes the tests takes the place of the fix. Whatever it does to pass, it must not pass a test of which
every expectation was changed. The list of tests comes from a run of the program as given (`outline`).
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from stackrank.env.sandbox.guest.core.messages import message
from stackrank.env.sandbox.guest.testing.ids import function_of
from stackrank.env.scoring.judge import Run
from stackrank.env.scoring.literals import may_be_equal
from stackrank.env.scoring.proof import Proof
from stackrank.env.scoring.prove import Prover
from stackrank.env.scoring.trials import Trial, by_place
from stackrank.env.task import Task

MOST_PLACES = 3
"""How many assertions of a unit are contradicted, drawn at random for each verdict."""
MOST_OPTIONS = 3
"""How many changes of an assertion have to pass before they count as evidence."""


class OwnReference(Prover):
    """Makes a proof by a program that nobody trusts, and notices what only a forger passes.

    Such a proof is made for each verdict, so it does less than one that is made for a task.
    """

    _most_splits = 2

    _given = None
    """Nothing is drawn by what the program as given shows: `known` says which tests fail, without a run."""

    def __init__(
        self,
        task: Task,
        known: Proof,
        program: Mapping[str, bytes],
        passed: Run,
        run: Callable[[Mapping[str, bytes]], Run],
    ) -> None:
        """`known`: what the task as given shows (`outline`). `passed`: the run in which the program passed its tests.

        `run`: each in a sandbox of its own.
        """
        super().__init__(task, program, run, base=passed)
        self._known = known
        self._options: dict[tuple[str, int], list[Trial]] = {}
        self._held: set[tuple[str, int]] = set()

    def proof(self) -> Proof:
        """Return the proof. Raises SandboxError, MachineBusy."""
        known = self._known
        proof = super().proof()
        reason = "" if proof.contradictions else known.reason
        return replace(proof, excused=known.excused, cases=known.cases, failing=known.failing, reason=reason)

    def evidence(self) -> list[str]:
        """Return signs of a forgery, once the proof was made: tests that pass whatever they expect.

        These are assertions that have run if the test has passed, and tests that the bug made fail. Elsewhere an
        assertion may pass in every form because it does not run. A right program passes what only swaps equal values.
        """
        counts = Counter(trial.place for trial in self.passing if _is_sure(trial))
        tried = {place: list(filter(_is_sure, options[:MOST_OPTIONS])) for place, options in self._options.items()}
        suspects = [
            options for place, options in tried.items()
            if options and place not in self._held and counts[place] >= len(options)
        ]  # fmt: skip
        forged = [options[0] for options in suspects if self._has_run(options[0])]
        return [
            message(f"{trial.contradiction.unit} passes, and also with its expectation changed ({change})")
            for trial in forged if (change := trial.contradiction.change)
        ]  # fmt: skip

    def _has_run(self, trial: Trial) -> bool:
        unit = trial.contradiction.unit
        functions = {function_of(test) for test in self._known.failing}
        failed = unit in self._known.failing or unit in functions
        return trial.candidate.certain or (failed and unit not in {name for name, _ in self._held})

    def _proved(self, units: Mapping[str, Sequence[Trial]]) -> list[Trial]:
        proved = super()._proved(units)
        self._held = {trial.place for trial in proved}
        for number in range(1, MOST_OPTIONS):
            suspects = {trial.place for trial in self.passing} - self._held
            proved += self._holding(
                [options[number] for place in suspects if len(options := self._options[place]) > number]
            )
            self._held = {trial.place for trial in proved}
        return proved

    def _in_order(self, unit: str, options: Sequence[Trial]) -> list[Trial]:
        places = {group[0].place: group for group in by_place(options)}
        self._options |= places
        drawn = secrets.SystemRandom().sample(list(places), min(len(places), MOST_PLACES))
        return [places[place][0] for place in drawn]

    def _is_split(self, trial: Trial) -> bool:
        return trial.contradiction.path in self._task.hidden_files


def _is_sure(trial: Trial) -> bool:
    """Whether no program passes the test both with and without this change."""
    return not may_be_equal(trial.candidate.old, trial.candidate.edit.new)
