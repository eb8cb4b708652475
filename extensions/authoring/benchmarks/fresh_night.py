"""Make a night of `fresh`: look for faults in several libraries at once, and prove the tasks made from them."""

from __future__ import annotations

import hashlib
import itertools
import math
import os
import random
import threading
import time
from collections.abc import Collection, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date
from functools import cached_property

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.python_project.pytest_command import TestCommand
from stackrank.env.difficulty import find_difficulty, save_difficulty
from stackrank.env.environment import Environment
from stackrank.env.sandbox.base import Backend, SandboxSpec, Say, spec_for
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.guest.testing.ids import function_of
from stackrank.env.scoring.blind import can_seal
from stackrank.env.scoring.judge import run_tests
from stackrank.env.scoring.proof import find_proof, save_proof
from stackrank.env.scoring.report import PASSED
from stackrank.env.task import Task
from stackrank.env.validate import validate
from stackrank.errors import StackrankError
from stackrank.extensions.authoring.benchmarks.deep_recipe import Recipe, RecipeChange, digest_of, plant
from stackrank.extensions.authoring.benchmarks.fresh_task import FreshTask, environment_of, library_of, load_task
from stackrank.extensions.authoring.difficulty import measure
from stackrank.extensions.authoring.inject.candidates import Mutant
from stackrank.extensions.authoring.inject.injection import Injection, InjectionOptions, Tally
from stackrank.extensions.authoring.inject.reach import Reach
from stackrank.extensions.authoring.inject.verify import LEAST_RANK, Verified, guessed_rank, shallow
from stackrank.extensions.authoring.withheld import choose_withheld, find_sealing_tests
from stackrank.home import home
from stackrank.wording import count_of

PARTS = 16
"""All possible changes are divided into this many parts, of which a night has one. Nights that are fewer days apart
share nothing."""
_BANDS = (math.inf, LEAST_RANK, LEAST_RANK / 2, -1)
"""Faults whose guessed ranks are between the first two numbers are tried first, then those between the next two, ..."""
_ROUNDS = 2
_OTHERS = 20
"""How many of the test functions that reach the fault a verdict runs in addition to those that notice it."""
_SAY_EVERY_S = 15.0


def make_night(
    seed: str, recipes: Sequence[Recipe], count: int, used_tasks: Collection[FreshTask], backend: Backend, say: Say
) -> list[FreshTask]:
    """Return the first `count` tasks of a night, or all there are: the same for the same seed, recipes and `used`.

    `used_tasks`: tasks of other nights, which are not made again. Faults that look deep (`guessed_rank`) are tried
    first, in
    all libraries. Libraries take turns, in an order that the seed chooses, so that a night covers several; as many as
    there are processors are worked on at the same time. Results are kept as soon as they are known, so a night that was
    cut off can continue. Raises BenchmarkError, SandboxError.
    """
    progress = _Progress(seed, count, say)
    order = random.Random(seed).sample(list(recipes), len(recipes))
    searches = [_Search(recipe, seed, used_tasks, backend, progress) for recipe in order]
    tasks: list[FreshTask] = []
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as threads:
        try:
            for highest, lowest in itertools.pairwise(_BANDS):
                if len(tasks) < count:
                    for search in searches:
                        search.start(lowest, highest)
                    tasks += _take_turns(searches, count - len(tasks), threads)
        finally:
            for search in searches:
                search.stop()
            threads.shutdown(cancel_futures=True)
            for search in searches:
                search.close()
    if not tasks:
        raise BenchmarkError(f"no valid deep fault found for night {seed}: name another night")
    return tasks


def _take_turns(searches: Sequence[_Search], count: int, threads: ThreadPoolExecutor) -> list[FreshTask]:
    """Return `count` tasks, or all there are. Raises SandboxError."""
    turn = itertools.cycle(searches)
    tasks: list[FreshTask] = []
    while len(tasks) < count and not all(search.exhausted for search in searches):
        for working in [threads.submit(next(turn).more) for _ in range(count - len(tasks))]:
            working.result()
        # The first task of each library, then the second: a smaller night is the beginning of a larger one.
        rounds = itertools.zip_longest(*(search.made for search in searches))
        tasks = [task for tasks_of_round in rounds for task in tasks_of_round if task is not None]
    return tasks


class _Progress:
    """Reports the progress of a night now and then, in one line."""

    def __init__(self, seed: str, count: int, say: Say) -> None:
        self.say = say
        self._seed, self._count = seed, count
        self._proved = self._tried = 0
        self._said = time.monotonic()
        self._writing = threading.Lock()

    def tried(self) -> None:
        """Count one more fault that was tried."""
        self._add(0, 1)

    def proved(self) -> None:
        """Count one more task that is proved."""
        self._add(1, 0)

    def _add(self, proved: int, tried: int) -> None:
        with self._writing:
            self._proved += proved
            self._tried += tried
            if not proved and time.monotonic() - self._said < _SAY_EVERY_S:
                return
            self._said = time.monotonic()
            self.say(
                f"fresh {self._seed}: {self._proved} of {count_of(self._count, 'task')} proved, "
                f"{count_of(self._tried, 'fault')} tried"
            )


class _Stopped(StackrankError):
    """The night is made, or was interrupted."""


class _Search:
    """Searches one library for faults, one after the other."""

    def __init__(
        self, recipe: Recipe, seed: str, used_tasks: Collection[FreshTask], backend: Backend, progress: _Progress
    ) -> None:
        self._recipe, self._seed, self._backend, self._progress = recipe, seed, backend, progress
        self._files = library_of(recipe)
        command = f"python -m pytest -q -p no:cacheprovider {recipe.options} {' '.join(recipe.own_tests)}"
        self._test = TestCommand.of(command, self._files)
        library_tasks = [task for task in used_tasks if task.library == recipe.library]
        self._used = {task.broken for task in library_tasks}
        self._keys = {task.change.key for task in library_tasks}
        self._faults: Generator[tuple[Mutant, Verified]] | None = None
        self._working = threading.Lock()
        self._stopped = self._left_out = False
        self.made: list[FreshTask] = []
        """The tasks made since the last `start`."""
        self.exhausted = False
        """Whether all these changes have been tried."""

    def start(self, lowest: float, highest: float) -> None:
        """Go on to changes whose guessed ranks are above the first number, and not above the second."""
        if self._faults is not None:
            self._faults.close()
        self._faults = self._search_band(lowest, highest)
        self.made, self.exhausted = [], self._left_out

    def more(self) -> None:
        """Make one more task, if there is another.

        A library whose own tests do not pass here, for instance because they measure time on a busy machine, is
        skipped with a message; the other libraries make the night.
        """
        with self._working:
            if self.exhausted:
                return
            assert self._faults is not None
            try:
                for fault in self._faults:
                    if (task := self._task(*fault)) is not None:
                        self.made.append(task)
                        self._progress.proved()
                        return
            except BenchmarkError as error:
                self._left_out = True
                self._progress.say(f"fresh skips {self._recipe.library} {self._recipe.version}: {error}")
            except _Stopped:
                pass
            self.exhausted = True

    def stop(self) -> None:
        """Stop after the fault that is being tried."""
        self._stopped = True

    def close(self) -> None:
        """Give the library's sandboxes back."""
        with self._working:
            if self._faults is not None:
                self._faults.close()

    def _tried(self, tally: Tally) -> None:
        self._progress.tried()
        if self._stopped:
            raise _Stopped

    def _search_band(self, lowest: float, highest: float) -> Generator[tuple[Mutant, Verified]]:
        injection, reach, ranked = self._candidates_of_library
        in_band = [mutant for mutant, place in ranked if lowest < place <= highest]
        with closing(injection.find_bugs(reach, in_band, Tally(1, len(in_band)), self._tried)) as faults:
            yield from faults

    @cached_property
    def _candidates_of_library(self) -> tuple[Injection, Reach, list[tuple[Mutant, float]]]:
        """What the library's tests reach, and the changes that the night may take, with guessed ranks."""
        options = InjectionOptions(
            1,
            int(hashlib.sha256(self._seed.encode()).hexdigest()[:8], 16),
            self._test,
            environment_of(self._recipe) or Environment(),
            workers=1,
            timeout_s=self._recipe.timeout_s,
            deep=True,
            proved_later=True,
        )
        injection = Injection(self._backend, self._files, options, home() / "fresh" / self._recipe.library)
        injection.prepare(self._progress.say)
        reach = injection.reach()
        mutants = self._choose(injection.candidates(reach), reach)
        return injection, reach, [(mutant, guessed_rank(reach, mutant)) for mutant in mutants]

    def _choose(self, candidates: Sequence[Mutant], reach: Reach) -> list[Mutant]:
        part = night_number(self._seed) % PARTS
        by_text = find_sealing_tests(self._files, reach.tests)
        of_night = [mutant for mutant in candidates if part_of(mutant.key) == part and mutant.key not in self._keys]
        return [mutant for mutant in of_night if _could_be_sealed(mutant, reach, by_text)]

    def _task(self, candidate: Mutant, verified: Verified) -> FreshTask | None:
        """Return the task made from a fault; None if it makes no task, or was made in another night."""
        place, operator, number = candidate.key.rsplit(" ", 2)
        change = RecipeChange(place=place, operator=operator, number=int(number))
        failing, passing = _select_tests(verified)
        try:
            withheld = choose_withheld(self._files, verified.fail_to_pass, passing, verified.pass_to_pass)
            task = FreshTask(
                library=self._recipe.library,
                change=change,
                broken=digest_of(plant(self._files, [change])),
                category=candidate.category,
                command=self._test.on([*failing, *passing]),
                fail_to_pass=verified.fail_to_pass,
                pass_to_pass=_of([*failing, *passing], verified.pass_to_pass),
                withheld=withheld,
                messages={
                    test: message for test, message in verified.messages.items() if function_of(test) not in withheld
                },
            )
            if task.broken in self._used:
                return None
            self._used.add(task.broken)
            alone = self._without_dependents(task, failing, passing)
            return alone if alone is not None and self._is_sound(load_task(self._recipe, alone)) else None
        except BenchmarkError:
            return None

    def _without_dependents(
        self, fresh_task: FreshTask, failing: Sequence[str], staying: Sequence[str]
    ) -> FreshTask | None:
        """Return a task without tests that rely on others of their library that do not run here; None if it needs them.

        Raises BenchmarkError, SandboxError.
        """
        task = load_task(self._recipe, fresh_task)
        with Sandbox(self._backend, spec_for(task, warm=False)) as sandbox:
            run = run_tests(sandbox, task, self._files, fresh=True, trusted=True)
        passing = {test for test, outcome in run.outcomes.items() if outcome in PASSED}
        if run.report is None or not run.report.complete or not passing.issuperset(fresh_task.fail_to_pass):
            return None
        good = [function for function in staying if passing.issuperset(_of([function], fresh_task.pass_to_pass))]
        stay = [test for test in _of([*failing, *good], fresh_task.pass_to_pass) if test in passing]
        return fresh_task.model_copy(update={"command": self._test.on([*failing, *good]), "pass_to_pass": tuple(stay)})

    def _is_sound(self, task: Task) -> bool:
        """Whether a task is deep in the form shown to agents, is proved, and can be sealed. The findings are kept."""

        def new(spec: SandboxSpec) -> Sandbox:
            return Sandbox(self._backend, spec)

        measured = find_difficulty(task)
        if measured is None:
            with new(spec_for(task, warm=False)) as sandbox:
                measured = measure(task, sandbox)
            save_difficulty(task, measured)
        if shallow(measured):
            return False
        if (proof := find_proof(task)) is not None:
            return can_seal(task, proof)
        result = validate(task, new, _ROUNDS)
        if result.proof is None:
            return False
        save_proof(task, result.proof)
        return can_seal(task, result.proof)


def _could_be_sealed(candidate: Mutant, reach: Reach, by_text: Collection[str]) -> bool:
    """Whether several test functions reach a fault, so that some can be withheld, and one could seal verdicts."""
    functions = {function_of(reach.tests[number]) for number in candidate.tests}
    return len(functions) > 1 and any(function in by_text for function in functions)


def _select_tests(verified: Verified) -> tuple[list[str], list[str]]:
    """Return the test functions that notice a fault, and some of the others that reach it."""
    functions = list(dict.fromkeys(function_of(test) for test in verified.fail_to_pass))
    passing = [function_of(test) for test in verified.pass_to_pass]
    passing = [test for test in dict.fromkeys(passing) if test not in functions]
    sampled = (
        [passing[place * len(passing) // _OTHERS] for place in range(_OTHERS)] if len(passing) > _OTHERS else passing
    )
    return functions, sampled


def _of(functions: Sequence[str], tests: Sequence[str]) -> tuple[str, ...]:
    """Return the tests that belong to some test functions."""
    return tuple(test for test in tests if function_of(test) in functions)


def part_of(key: str) -> int:
    """Return the part to which a change belongs."""
    return int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) % PARTS


def night_number(seed: str) -> int:
    """Return the number of a night: consecutive dates have consecutive numbers, a number is its own, a text has any."""
    try:
        return date.fromisoformat(seed).toordinal()
    except ValueError:
        pass
    return int(seed) if seed.isdecimal() else int(hashlib.sha256(seed.encode()).hexdigest()[:8], 16)
