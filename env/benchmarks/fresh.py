"""`fresh`: faults that nobody has seen, made anew for every night in the libraries of `deep` that bring tests.

A night is a seed: a date, a number, or any text. Of all changes that could be made each night tries a share of its own,
so that nights that follow one another make no task twice. A fault is kept where it is far from its failure, as
`stackrank inject --deep` measures it, where at least two of the library's tests notice it, and where the task that is
made of it is proved. Agents see some of these tests; the others are withheld for the verdict.

What a night came to is kept in stackrank's home, so that a night is made once, and is the same again elsewhere.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator
from datetime import date

from pydantic import TypeAdapter

from stackrank.env.benchmarks.base import Source, TaskByTask, own_name
from stackrank.env.benchmarks.deep_recipe import read_recipe
from stackrank.env.benchmarks.deep_suite import DATA
from stackrank.env.benchmarks.fresh_task import FreshTask, load_task
from stackrank.env.task import Task
from stackrank.home import home, locked, write_whole
from stackrank.wording import say

_NIGHT = TypeAdapter(list[FreshTask])


class Fresh(TaskByTask):
    """New deep faults for each night."""

    name = "fresh"

    def __init__(self, source: Source | None = None) -> None:
        """`source.seed`: the night; today where empty. `source.path`: other recipes. Raises BenchmarkError."""
        self._source = source or Source()
        self.seed = self._source.seed or date.today().isoformat()
        self.name = own_name(self.name, self.seed)
        files = sorted((self._source.path or DATA).glob("*.yaml"))
        self._recipes = {each.library: each for each in map(read_recipe, files) if each.own_tests}
        self.license = ", ".join(sorted({recipe.license for recipe in self._recipes.values()}))
        self.source = f"made from {len(self._recipes)} libraries of a package index"
        self.empty = f"the night {self.seed} of fresh has no task yet: `stackrank tasks fresh` makes today's"

    def _entries(self) -> Iterator[tuple[str, Callable[[], Task]]]:
        for each in self._night():
            yield each.id, functools.partial(load_task, self._recipes[each.library], each)

    def _night(self) -> list[FreshTask]:
        about = [self.seed, *(f"{each.library} {each.sha256} {each.own_tests}" for each in self._recipes.values())]
        file = home() / "fresh" / f"{hashlib.sha256(repr(about).encode()).hexdigest()[:16]}.json"
        if not file.is_file() and self._source.fetch:
            with locked("fresh"):
                if not file.is_file():
                    # Late: only who makes tasks needs what makes them.
                    from stackrank.env.benchmarks.fresh_night import make_night

                    made = make_night(self.seed, list(self._recipes.values()), say)
                    write_whole(file, _NIGHT.dump_json(made, indent=1).decode() + "\n")
        return _NIGHT.validate_json(file.read_text(encoding="utf-8")) if file.is_file() else []
