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
from stackrank.wording import print_err

PER_NIGHT = 10
_ORDER = 2
"""Increased when the same night gives other tasks, so that no night is made in two ways."""


class Night(BaseModel):
    """The tasks of one night."""

    seed: str = ""
    wanted: int = 0
    """How many tasks were asked for; there are fewer tasks if the night has no more faults."""
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
        self._recipes = {each.library: each for each in map(read_recipe, files) if each.own_tests}
        self.license = ", ".join(sorted({recipe.license for recipe in self._recipes.values()}))
        self.source = f"made from {len(self._recipes)} libraries of a package index"
        self.empty = f"the night {self.seed} of fresh has no task yet: `stackrank tasks fresh` makes today's"

    def _entries(self) -> Iterator[tuple[str, Callable[[], Task]]]:
        night = self._night()
        if len(night.tasks) < self._count <= night.wanted:
            self.notes = (
                f"the night {self.seed} of fresh has only {len(night.tasks)} of the {self._count} tasks that were "
                "wanted, because its faults came to an end: name another night (--night)",
            )
        for each in night.tasks[: self._count]:
            yield each.id, functools.partial(load_task, self._recipes[each.library], each)

    def _night(self) -> Night:
        """Return the night as it is known; if more tasks are wanted, make them if allowed. Raises BenchmarkError."""
        parts = ("library", "sha256", "own_tests", "tests_need", "test_requirements")
        about = [_ORDER, self.seed, *(repr([getattr(each, part) for part in parts]) for each in self._recipes.values())]
        folder = home() / "fresh"
        file = folder / f"{hashlib.sha256(repr(about).encode()).hexdigest()[:16]}.night.json"
        known = _read(file)
        if known.wanted >= self._count or not self._source.fetch:
            return known
        with locked("fresh"):
            if (known := _read(file)).wanted < self._count:
                # Imported late, because it is needed only to make tasks.
                from stackrank.extensions.authoring.benchmarks.fresh_night import make_night

                # Without this night as other versions of the libraries make it, which a new machine does not have.
                others = [
                    night for each in sorted(folder.glob("*.night.json")) if (night := _read(each)).seed != self.seed
                ]
                used = [task for night in others for task in night.tasks]
                backend = chosen_backend(self._source.sandbox)
                made = make_night(self.seed, list(self._recipes.values()), self._count, used, backend, print_err)
                known = Night(seed=self.seed, wanted=self._count, tasks=made)
                write_whole(file, known.model_dump_json(indent=1) + "\n")
        return known


def _read(file: Path) -> Night:
    return Night.model_validate_json(file.read_text(encoding="utf-8")) if file.is_file() else Night()
