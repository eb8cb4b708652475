"""Measuring how often the verdicts on a benchmark's tasks are wrong, with labelled changes."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stackrank.db import stats
from stackrank.db.writes.store import Store
from stackrank.env.benchmarks.base import Benchmark, BenchmarkError, Source, digest
from stackrank.env.benchmarks.registry import load_benchmark, select
from stackrank.env.benchmarks.verdict_rates import CHANGES, ErrorRate, HasFolder, VerdictRates, save_rates
from stackrank.env.sandbox.base import Say
from stackrank.env.sandbox.registry import chosen_backend
from stackrank.env.scoring.verdict import NewSandbox
from stackrank.env.task import Task
from stackrank.extensions.authoring.rates.changes import Label, read_changes
from stackrank.extensions.authoring.rates.grading import Grade, grade
from stackrank.flows.runs.playing.sandboxes import map_tasks
from stackrank.flows.runs.preparing.environments import build_environments
from stackrank.flows.runs.preparing.stored_benchmark import save_benchmark


@dataclass(frozen=True, slots=True)
class Measurement:
    """The grades of all changes, and the rates that follow from them."""

    benchmark: Benchmark
    rates: VerdictRates
    grades: tuple[Grade, ...]

    @property
    def mistaken(self) -> list[Grade]:
        """The changes whose verdict is wrong, unless a second reader relabels them."""
        return [grade for grade in self.grades if grade.mistaken]

    @property
    def uncounted(self) -> list[Grade]:
        """The changes that are in no rate."""
        return [grade for grade in self.grades if not grade.counts]

    def document(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "benchmark": self.benchmark.name,
            **self.rates.document(),
            "not_counted": len(self.uncounted),
            "changes": [grade.document() for grade in self.grades],
        }


def measure_rates(
    store: Store,
    name: str,
    source: Source,
    *,
    path: Path | None,
    tasks: Sequence[str],
    limit: int | None,
    workers: int | None,
    sandbox: str | None,
    record: bool,
    say: Say,
    on_result: Callable[[int, int], None],
) -> Measurement:
    """Grade labelled changes, and store the rates if all tasks were asked for.

    `path`: the changes; None: those that come with the benchmark. `record`: the rates are also written into the
    benchmark's folder. `on_result` is called with the number of finished tasks, and of all tasks. Raises
    BenchmarkError, SandboxError.
    """
    benchmark = load_benchmark(name, source)
    folder = benchmark.folder if isinstance(benchmark, HasFolder) else None
    if record and folder is None:
        raise BenchmarkError(f"{name} has no folder of its own for the rates: leave out --record")
    if path is None and (folder is None or not (folder / CHANGES).is_file()):
        raise BenchmarkError(f"{name} comes without labelled changes: name a JSONL file or a folder with --changes")
    changes = read_changes(path or Path(folder or ".") / CHANGES)
    all_tasks = tuple(benchmark.tasks())
    known = {task.id for task in all_tasks}
    if unknown := sorted({change.task for change in changes} - known):
        raise BenchmarkError(f"{name} has no task {unknown[0]}, for which there is a change")
    by_task = defaultdict(list)
    for change in changes:
        by_task[change.task].append(change)
    selected = [task for task in select(all_tasks, tasks or None, limit) if task.id in by_task]
    backend = chosen_backend(sandbox)
    workers = workers or os.cpu_count() or 2
    unbuilt = build_environments(backend, selected, workers, say)
    grades = [Grade(change, reason) for task, reason in unbuilt.items() for change in by_task[task]]
    buildable = [task for task in selected if task.id not in unbuilt]

    def grade_task(task: Task, new_sandbox: NewSandbox) -> list[Grade]:
        return grade(task, by_task[task.id], new_sandbox)

    with closing(map_tasks(grade_task, buildable, backend, workers)) as results:
        for number, result in enumerate(results, 1 + len(unbuilt)):
            grades += result
            on_result(number, len(selected))
    order = {id(change): number for number, change in enumerate(changes)}
    grades.sort(key=lambda grade: order[id(grade.change)])
    rates = VerdictRates(
        digest=digest(all_tasks),
        measured_on=datetime.now(UTC).date().isoformat(),
        false_accepts=_error_rate(grades, "wrong"),
        false_rejects=_error_rate(grades, "right"),
    )
    if not tasks and limit is None:
        save_rates(rates, folder if record else None)
        save_benchmark(store, benchmark, all_tasks)
    return Measurement(benchmark, rates, tuple(grades))


def _error_rate(grades: Iterable[Grade], label: Label) -> ErrorRate:
    counted = [grade for grade in grades if grade.counts and grade.change.final_label == label]
    by_task: defaultdict[str, list[bool]] = defaultdict(list)
    for graded in counted:
        by_task[graded.change.task].append(graded.mistaken)
    estimate = stats.rate([sum(marks) for marks in by_task.values()], [len(marks) for marks in by_task.values()])
    return ErrorRate(
        changes=len(counted),
        errors=sum(grade.mistaken for grade in counted),
        tasks=len(by_task),
        authors=len({grade.change.author for grade in counted}),
        rate=estimate.rate,
        low=estimate.low,
        high=estimate.high,
    )
