"""Making a night of `fresh`: faults are sought library by library, tried, and the tasks made of them proved."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Sequence
from datetime import date

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.deep_recipe import Change, Recipe, digest_of, plant
from stackrank.env.benchmarks.fresh_task import FreshTask, environment_of, library_of, load_task
from stackrank.env.difficulty.measure import find_measured, save_measured
from stackrank.env.environment import Environment
from stackrank.env.inject.candidates import Candidate
from stackrank.env.inject.injection import Injection, InjectionOptions, Tally
from stackrank.env.inject.reach import TestCommand
from stackrank.env.inject.verify import Verified, shallow
from stackrank.env.sandbox.base import Backend, SandboxSpec, Say
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.registry import default_backend
from stackrank.env.scoring.proof import find_proof, save_proof
from stackrank.env.task import Task
from stackrank.env.validate import validate
from stackrank.home import home

PER_NIGHT = 10
PARTS = 32
"""Nights in a row that share nothing."""
_ROUNDS = 2
_TURN = 2
"""How many faults more a library is asked for when it is its turn."""


def make_night(seed: str, recipes: Sequence[Recipe], say: Say, count: int = PER_NIGHT) -> list[FreshTask]:
    """The tasks of a night, at most `count`, the same for the same seed and recipes.

    Libraries take turns, in an order that the seed chooses, so that a night is of several. Raises BenchmarkError,
    SandboxError.
    """
    backend = default_backend()
    order = random.Random(seed).sample(list(recipes), len(recipes))
    searches = [_Search(recipe, seed, backend, say) for recipe in order]
    found: list[FreshTask] = []
    while len(found) < count and (left := [each for each in searches if not each.exhausted]):
        for search in left:
            if len(found) < count:
                found += search.more()[: count - len(found)]
    if not found:
        raise BenchmarkError(f"no fault of the night {seed} is deep and proved: name another night")
    say(f"fresh {seed}: {len(found)} tasks")
    return found


class _Search:
    """Faults of one library."""

    def __init__(self, recipe: Recipe, seed: str, backend: Backend, say: Say) -> None:
        self._recipe, self._backend, self._say, self._seed = recipe, backend, say, seed
        self._files = library_of(recipe)
        self._seen = 0
        self.exhausted = False
        """Whether all of the night's share was tried."""

    def more(self) -> list[FreshTask]:
        """What comes of the next few faults."""
        wanted = self._seen + _TURN
        faults = self._faults(wanted)
        made = [self._task(*fault) for fault in faults[self._seen :]]
        self._seen, self.exhausted = len(faults), len(faults) < wanted
        return [each for each in made if each is not None]

    def _faults(self, wanted: int) -> list[tuple[Candidate, Verified]]:
        recipe, name = self._recipe, f"{self._recipe.library} {self._recipe.version}"
        command = f"python -m pytest -q -p no:cacheprovider {recipe.options} {' '.join(recipe.own_tests)}"
        options = InjectionOptions(
            wanted,
            int(hashlib.sha256(self._seed.encode()).hexdigest()[:8], 16),
            TestCommand.of(command, self._files),
            environment_of(recipe) or Environment(),
            workers=min(os.cpu_count() or 1, 4),
            timeout_s=recipe.timeout_s,
            deep=True,
            share=(night_number(self._seed) % PARTS, PARTS),
        )
        injection = Injection(self._backend, self._files, options, home() / "fresh" / recipe.library)
        injection.prepare(self._say)
        self._say(f"fresh {self._seed}: seeking faults in {name}")
        try:
            return injection.bugs(injection.reach(), _unheard)
        except BenchmarkError as error:
            raise BenchmarkError(f"{name}: {error}") from None

    def _task(self, candidate: Candidate, verified: Verified) -> FreshTask | None:
        """The task of a fault; None where it is of no use as one."""
        place, operator, number = candidate.key.rsplit(" ", 2)
        change = Change(place=place, operator=operator, number=int(number))
        made = FreshTask(
            library=self._recipe.library,
            change=change,
            broken=digest_of(plant(self._files, [change])),
            category=candidate.category,
            command=verified.command,
            fail_to_pass=verified.fail_to_pass,
            pass_to_pass=verified.pass_to_pass,
        )
        try:
            task = load_task(self._recipe, made)
        except BenchmarkError:
            return None
        return made if self._holds(task) else None

    def _holds(self, task: Task) -> bool:
        """Whether a task is proved, deep as it is shown, and its verdicts can be sealed. What was found to is kept."""
        if find_proof(task) is not None and find_measured(task) is not None:
            return True

        def new(spec: SandboxSpec) -> Sandbox:
            return Sandbox(self._backend, spec)

        result = validate(task, new, _ROUNDS)
        if not (result.valid and result.proof and result.proof.covered and result.measured):
            return False
        if shallow(result.measured):
            return False
        save_proof(task, result.proof)
        save_measured(task, result.measured)
        return True


def night_number(seed: str) -> int:
    """The number of a night: nights in a row have numbers in a row, as numbers have; other texts have any."""
    try:
        return date.fromisoformat(seed).toordinal()
    except ValueError:
        pass
    return int(seed) if seed.isdecimal() else int(hashlib.sha256(seed.encode()).hexdigest()[:8], 16)


def _unheard(tally: Tally) -> None:
    """Nobody listens."""
