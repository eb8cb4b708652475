"""Which episodes a query about entrants is about, and their sums per entrant and task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from sqlalchemy import Engine, select, true
from sqlalchemy.sql import ColumnElement

from stackrank.db.connection.errors import NotFound
from stackrank.db.connection.transactions import BENCHMARK, ENTRANT, EPISODE, RUN, TASK
from stackrank.db.queries.boards.cells import add_up_cells, of_runs
from stackrank.db.queries.boards.pooling import (
    PooledRun,
    benchmark_names,
    fetch_runs,
    find_leading_run,
    require_poolable,
)
from stackrank.db.queries.catalogue import EntrantRow
from stackrank.db.queries.labels import disputed
from stackrank.db.queries.reading import Row, as_list, fetch
from stackrank.db.queries.runs import find_run_id, has_tag
from stackrank.db.queries.runs import run as find_run
from stackrank.db.totals.sums import Sums, TaskKey, total
from stackrank.db.totals.tallies import Cell
from stackrank.storable import storable_text
from stackrank.terms import ErrorsAre, RunStatus, Verdict

_E = EPISODE.c
_Cells = TypeVar("_Cells")


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The episodes that a query about entrants asks for.

    `run` (one reference or several) selects exactly those runs, whatever their status. Without it, the scope has the
    runs, or the `last` so many, with the benchmark version and conditions of the newest finished run among those asked
    for (see `pooling.find_leading_run`). A query can ask for a `benchmark` (its name, or a part that no other set has),
    a `version` of it and `conditions` (the beginnings of their digests), a `series`, and `tags`, all of which a run
    must have, and an `owner`. `finished_only`: leave out runs that are still running, were cancelled or failed, if any
    has finished; else the scope has what exists, and is provisional. Further runs of a task are further attempts.
    """

    run: int | str | Sequence[int | str] | None = None
    benchmark: str | None = None
    version: str | None = None
    conditions: str | None = None
    series: str | None = None
    tags: str | Sequence[str] = ()
    owner: str | None = None
    last: int | None = None
    finished_only: bool = True
    errors: ErrorsAre = ErrorsAre.LEFT_OUT
    """How errors count in a rate."""
    without_disputed: bool = False
    """Whether tasks that people dispute (`queries.disputed`) are left out."""
    task_tag: str = ""
    """Only tasks with this tag count, such as a language; empty: all."""

    def find(self, engine: Engine) -> Selection:
        """Return the runs that the scope selects, perhaps none.

        Raises `NotFound` for a reference to an unknown run, `NotComparable` for runs that cannot be pooled.
        """
        matching_runs, lead = self.candidates(engine)
        if self.run is not None:
            require_poolable(engine, matching_runs[::-1])
            return Selection(engine, self, tuple(matching_runs), ())
        comparable_runs = [run for run in matching_runs if lead is not None and run.kind == lead.kind]
        finished = [run for run in comparable_runs if run.status == RunStatus.FINISHED]
        is_finished = lead is not None and lead.status == RunStatus.FINISHED
        pooled = finished if self.finished_only and is_finished else comparable_runs
        excluded = [run for run in matching_runs if run not in pooled]
        return Selection(engine, self, tuple(pooled[: self.last]), tuple(excluded))

    def run_ids(self, engine: Engine) -> list[int] | None:
        """Return the runs asked for, whether they can be pooled or not, newest first; None means every run.

        Raises as `find` does.
        """
        if self.run is not None:
            refs = [self.run] if isinstance(self.run, int | str) else self.run
            return [find_run_id(engine, ref) for ref in refs]
        run_conditions = self.run_conditions(engine)
        if not run_conditions and self.last is None:
            return None
        return [run.id for run in fetch_runs(engine, *run_conditions)[: self.last]]

    def candidates(self, engine: Engine) -> tuple[list[PooledRun], PooledRun | None]:
        """Return the runs asked for, newest first, and the one that leads, before it is decided which are pooled.

        Raises `NotFound` for a reference to an unknown run.
        """
        run_conditions = self.run_conditions(engine)
        if self.run is None:
            return fetch_runs(engine, *run_conditions), find_leading_run(engine, run_conditions)
        refs = [self.run] if isinstance(self.run, int | str) else self.run
        ids = [find_run(engine, ref)["id"] for ref in refs]
        named_runs = fetch_runs(engine, RUN.c.id.in_(ids), *run_conditions)
        if mismatched := set(ids).difference(run.id for run in named_runs):
            raise NotFound(
                f"Run {max(mismatched)} does not match the other filters (benchmark, version, conditions, series, "
                "tags): use --run alone."
            )
        return named_runs, named_runs[0] if named_runs else None

    def newest(self, engine: Engine) -> PooledRun | None:
        """Return the newest run asked for, whatever its status and whether or not it leads. Raises as `find` does."""
        return next(iter(fetch_runs(engine, *self.run_conditions(engine))), None)

    def run_conditions(self, engine: Engine) -> list[ColumnElement[bool]]:
        """Return the conditions that the runs asked for meet. Raises as `find` does."""
        run_conditions: list[ColumnElement[bool]] = [has_tag(engine, tag) for tag in as_list(self.tags)]
        if self.benchmark:
            run_conditions.append(BENCHMARK.c.name.in_(benchmark_names(engine, self.benchmark)))
        named = ((RUN.c.series, self.series), (RUN.c.owner, self.owner))
        run_conditions += [column == storable_text(value) for column, value in named if value]
        prefixes = ((RUN.c.conditions_digest, self.conditions), (BENCHMARK.c.digest, self.version))
        run_conditions += [column.startswith(storable_text(text), autoescape=True) for column, text in prefixes if text]
        return run_conditions


def task_tags(engine: Engine, scope: Scope) -> list[str]:
    """Return the tags of the tasks that count, in the order of the alphabet."""
    return sorted({tag for row in scope.find(engine).tasks for tag in row["tags"]})


DEFAULT_SCOPE = Scope()
"""The runs that are pooled with the newest finished one."""


@dataclass(frozen=True)
class Selection:
    """The runs that a scope selects in a database."""

    engine: Engine
    scope: Scope
    pooled: tuple[PooledRun, ...]
    """Newest first; all of one benchmark version, under equal conditions."""
    excluded: tuple[PooledRun, ...]
    """Runs that were asked for too, but are not pooled with these."""

    @cached_property
    def runs(self) -> tuple[int, ...]:
        """The ids of the pooled runs."""
        return tuple(run.id for run in self.pooled)

    @property
    def unfinished(self) -> tuple[PooledRun, ...]:
        """The pooled runs that have not finished, newest first: while there are any, numbers are provisional."""
        return tuple(run for run in self.pooled if run.status != RunStatus.FINISHED)

    @property
    def condition(self) -> ColumnElement[bool]:
        """The condition that an episode belongs to the pooled runs."""
        return _E.run_id.in_(self.runs)

    @property
    def counting(self) -> list[Verdict]:
        """The verdicts of the episodes that a rate counts."""
        errors = [Verdict.ERROR] if self.scope.errors == ErrorsAre.AS_FAILURES else []
        return [Verdict.RESOLVED, Verdict.UNRESOLVED, *errors]

    @property
    def grouped(self) -> ColumnElement[bool]:
        """The same as `condition`, for a query over all runs together that is grouped by entrant and task."""
        return of_runs(self.engine, self.runs)

    @cached_property
    def _tasks(self) -> list[Row]:
        if not self.pooled:
            return []
        names = (
            "id", "name", "title", "digest", "benchmark_id", "category", "difficulty", "tags", "valid",
            "invalid_reason",
        )  # fmt: skip
        query = select(*(TASK.c[name] for name in names)).order_by(TASK.c.id)
        return fetch(self.engine, query.where(TASK.c.benchmark_id == self.pooled[0].benchmark_id))

    @cached_property
    def tasks(self) -> list[Row]:
        """The rows of the tasks that count, in the order of their ids, without their texts.

        A task that was found to be defective says nothing about an entrant and is left out.
        """
        return [row for row in self._tasks if row["id"] not in self._left_out]

    @cached_property
    def invalid(self) -> dict[int, str]:
        """Task id -> name, for the defective tasks, which are left out."""
        return {row["id"]: row["name"] for row in self._tasks if row["valid"] is False}

    @cached_property
    def disputed(self) -> dict[int, str]:
        """Task id -> name, for the tasks that people dispute."""
        keys = disputed(self.engine)
        return {row["id"]: row["name"] for row in self._tasks if (row["name"], row["digest"]) in keys}

    @cached_property
    def _left_out(self) -> set[int]:
        tag = self.scope.task_tag
        other = {row["id"] for row in self._tasks if tag and tag not in row["tags"]}
        return {*self.invalid, *(self.disputed if self.scope.without_disputed else ()), *other}

    @cached_property
    def keys(self) -> dict[int, TaskKey]:
        """Task id -> key, for the tasks that count."""
        return {row["id"]: (row["name"], row["digest"]) for row in self.tasks}

    @property
    def valid(self) -> ColumnElement[bool]:
        """The condition that an episode's task counts."""
        return _E.task_id.not_in(sorted(self._left_out)) if self._left_out else true()

    def cells(self, entrants: Iterable[int] | None = None) -> dict[int, dict[TaskKey, Sums]]:
        """Return the sums of each entrant, or of these entrants only, task by task."""
        if entrants is None:
            return self._cells
        return {entrant_id: self._cells[entrant_id] for entrant_id in entrants if entrant_id in self._cells}

    @cached_property
    def _cells(self) -> dict[int, dict[TaskKey, Sums]]:
        return _group_by_key(self._sums, self.keys)

    @cached_property
    def _sums(self) -> list[Cell]:
        return self.sums()

    @cached_property
    def played(self) -> set[int]:
        """The ids of the tasks with an episode, invalid tasks among them."""
        return {task_id for _, task_id, _ in self._sums}

    @cached_property
    def invalid_sums(self) -> tuple[list[str], Sums]:
        """The names of the invalid tasks that were played, and the sums of their episodes."""
        played = [(task_id, sums) for _, task_id, sums in self._sums if task_id in self.invalid]
        names = sorted({self.invalid[task_id] for task_id, _ in played})
        return names, total(sums for _, sums in played) if played else Sums()

    def sums(self) -> list[Cell]:
        """Return the sums of each entrant on each task, invalid tasks included."""
        cells = add_up_cells(self.engine, self.runs)
        if self.scope.errors == ErrorsAre.AS_FAILURES:
            return [(entrant, task, sums.with_errors_failed()) for entrant, task, sums in cells]
        return cells


def _group_by_key(sums: Iterable[Cell], keys: Mapping[int, TaskKey]) -> dict[int, dict[TaskKey, Sums]]:
    cells: dict[int, dict[TaskKey, Sums]] = defaultdict(dict)
    for entrant_id, task_id, cell_sums in sums:
        if key := keys.get(task_id):
            cells[entrant_id][key] = cell_sums
    return cells


def fetch_entrants(engine: Engine, ids: Iterable[int]) -> dict[int, EntrantRow]:
    """Return the rows of these entrants by id."""
    return {row["id"]: row for row in fetch(engine, select(ENTRANT).where(ENTRANT.c.id.in_(list(ids))), EntrantRow)}


def without_reference(cells: Mapping[int, _Cells], entrants: Mapping[int, EntrantRow]) -> dict[int, _Cells]:
    """Return the cells of the entrants that compete: all but the reference entrants."""
    return {entrant_id: of_entrant for entrant_id, of_entrant in cells.items() if not entrants[entrant_id]["reference"]}
