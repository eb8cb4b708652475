"""Which benchmarks there are. Other packages add theirs by the entry point group `stackrank.benchmarks`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from pathlib import Path

from env.benchmarks.base import Benchmark, BenchmarkError
from env.benchmarks.bug_suite import BugSuite
from env.task import Task

BUILT_IN: dict[str, Callable[[Path | None], Benchmark]] = {"bugs": BugSuite}


def benchmark_names() -> list[str]:
    """The names of all benchmarks."""
    return [*BUILT_IN, *(point.name for point in entry_points(group="stackrank.benchmarks"))]


def load_benchmark(name: str, path: Path | None = None) -> Benchmark:
    """The benchmark of that name; `path`: where its data is. Raises BenchmarkError."""
    if name in BUILT_IN:
        return BUILT_IN[name](path)
    for point in entry_points(group="stackrank.benchmarks", name=name):
        found: Benchmark = point.load()(path)
        return found
    raise BenchmarkError(f"there is no benchmark {name!r}: choose one of {', '.join(benchmark_names())}")


def select(tasks: Sequence[Task], names: Sequence[str] | None, limit: int | None) -> list[Task]:
    """The tasks of those names (all where None), at most `limit`.

    A limit takes tasks evenly from the whole list, so that a small run sees every category.
    Raises BenchmarkError for an unknown name.
    """
    chosen = list(tasks)
    if names:
        known = {task.id: task for task in tasks}
        unknown = [name for name in names if name not in known]
        if unknown:
            raise BenchmarkError(f"there is no task {', '.join(unknown)}: `stackrank tasks` lists those there are")
        chosen = [known[name] for name in names]
    if limit is not None and limit < len(chosen):
        chosen = [chosen[index * len(chosen) // limit] for index in range(limit)]
    return chosen
