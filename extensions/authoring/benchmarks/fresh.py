"""`fresh`: faults that nobody has seen, newly made for every night in the libraries of `deep` that bring tests.

A night is a seed: a date, a number, or any text. Each night tries its own part of all possible changes, so that
consecutive nights make no task twice, wherever they are made. A fault is kept if it is far from its failure, as
`stackrank inject --deep` measures it, if at least two of the library's tests notice it, and if the task that is made
from it is proved. Agents see some of these tests; the others are withheld for the verdict.

The tasks of a night are kept in stackrank's home, so that a night is made only once; no later night makes one of its
tasks again. If fewer tasks of a night are asked for, they are its first ones.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

from pydantic import BaseModel

from stackrank.env.benchmarks.base import Source, TaskByTask, own_name
from stackrank.env.sandbox.registry import chosen_backend
from stackrank.env.task import Task
from stackrank.extensions.authoring.benchmarks.deep_recipe import read_recipe
from stackrank.extensions.authoring.benchmarks.deep_suite import DATA
from stackrank.extensions.authoring.benchmarks.fresh_task import FreshTask, load_task
from stackrank.home import home, locked, write_whole
from stackrank.wording import count_of, print_err

PER_NIGHT = 10


class Night(BaseModel):
    """The tasks of one night."""

    seed: str = ""
    requested: int = 0
    """How many tasks were requested; there are fewer if no candidate faults are left."""
    tasks: list[FreshTask] = []


class Fresh(TaskByTask):
    """New deep faults for each night."""

    name = "fresh"

    def __init__(self, source: Source | None = None) -> None:
        """`source.seed`: the night; if empty, today. `source.path`: other recipes. Raises BenchmarkError."""
        self._source = source or Source()
        self.seed = self._source.seed or date.today().isoformat()
        self._count = self._source.count or PER_NIGHT
        self.name = own_name(self.name, self.seed)
        files = sorted((self._source.path or DATA).glob("*.yaml"))
        self._recipes = {recipe.library: recipe for recipe in map(read_recipe, files) if recipe.own_tests}
        self.license = ", ".join(sorted({recipe.license for recipe in self._recipes.values()}))
        self.source = f"made from {count_of(len(self._recipes), 'library')} of a package index"
        self.empty = f"the night {self.seed} of fresh has no task yet: `stackrank tasks fresh` makes today's"

    def _entries(self) -> Iterator[tuple[str, Callable[[], Task]]]:
        night = self._night()
        if len(night.tasks) < self._count <= night.requested:
            self.notes = (
                f"the night {self.seed} of fresh has only {len(night.tasks)} of the {self._count} requested "
                "tasks, because no candidate faults are left: name another night (--night)",
            )
        for task in night.tasks[: self._count]:
            yield task.id, functools.partial(load_task, self._recipes[task.library], task)

    def _night(self) -> Night:
        """Return the stored night; if more tasks are requested, make them if allowed. Raises BenchmarkError."""
        parts = ("library", "sha256", "own_tests", "tests_need", "test_requirements")
        identity = [
            self.seed,
            *(repr([getattr(recipe, part) for part in parts]) for recipe in self._recipes.values()),
        ]
        folder = home() / "fresh"
        file = folder / f"{hashlib.sha256(repr(identity).encode()).hexdigest()[:16]}.night.json"
        stored = _read(file)
        if stored.requested >= self._count or not self._source.fetch:
            return stored
        with locked("fresh"):
            if (stored := _read(file)).requested < self._count:
                # Imported late, because it is needed only to make tasks.
                from stackrank.extensions.authoring.benchmarks.fresh_night import make_night

                # The same night may have been made from other libraries; on a new machine it is not there.
                other_nights = [
                    night for path in sorted(folder.glob("*.night.json")) if (night := _read(path)).seed != self.seed
                ]
                used_tasks = [task for night in other_nights for task in night.tasks]
                backend = chosen_backend(self._source.sandbox)
                tasks = make_night(self.seed, list(self._recipes.values()), self._count, used_tasks, backend, print_err)
                stored = Night(seed=self.seed, requested=self._count, tasks=tasks)
                write_whole(file, stored.model_dump_json(indent=1) + "\n")
        return stored


def _read(file: Path) -> Night:
    return Night.model_validate_json(file.read_text(encoding="utf-8")) if file.is_file() else Night()
