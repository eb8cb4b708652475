"""All benchmarks, by name. Other packages add theirs with the entry point group `stackrank.benchmarks`."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points

from stackrank.env.benchmarks.aider import Aider
from stackrank.env.benchmarks.base import Benchmark, BenchmarkError, Source
from stackrank.env.benchmarks.bug_suite import BugSuite
from stackrank.env.benchmarks.mini_nightmare import MiniNightmare
from stackrank.env.benchmarks.repo import Repo
from stackrank.env.benchmarks.swebench.benchmark import SweBench, SweBenchDebug
from stackrank.env.task import Task
from stackrank.extensions.authoring.benchmarks.deep_suite import Deep, Releases
from stackrank.extensions.authoring.benchmarks.fresh import Fresh
from stackrank.extensions.harbor.benchmark import Harbor

BUILT_IN: dict[str, Callable[[Source], Benchmark]] = {
    "bugs": BugSuite,
    "deep": Deep,
    "releases": Releases,
    "fresh": Fresh,
    "mini_nightmare": MiniNightmare,
    "aider": Aider,
    "swebench": SweBench,
    "swebench-debug": SweBenchDebug,
    "repo": Repo,
    "harbor": Harbor,
}


def benchmark_names() -> list[str]:
    """Return the names of all benchmarks."""
    return [*BUILT_IN, *(point.name for point in entry_points(group="stackrank.benchmarks"))]


def load_benchmark(name: str, source: Source | None = None) -> Benchmark:
    """Return the benchmark of that name, on the data in `source`. Raises BenchmarkError."""
    place = source or Source()
    if name in BUILT_IN:
        return BUILT_IN[name](place)
    for point in entry_points(group="stackrank.benchmarks", name=name):
        found: Benchmark = point.load()(place)
        return found
    raise BenchmarkError(f"there is no benchmark {name!r}: choose one of {', '.join(benchmark_names())}")


def select(tasks: Sequence[Task], names: Sequence[str] | None, limit: int | None) -> list[Task]:
    """Return the tasks with these names (all if None), at most `limit`.

    A limit takes tasks evenly from the whole list, so that a small run sees every category.
    Raises BenchmarkError for an unknown name.
    """
    chosen = list(tasks)
    if names:
        known = {task.id: task for task in tasks}
        unknown = [name for name in names if name not in known]
        if unknown:
            near = [each for name in unknown for each in difflib.get_close_matches(name, known, 3, 0.5)]
            hint = f" (near it: {', '.join(dict.fromkeys(near))})" if near else ""
            raise BenchmarkError(f"there is no task {', '.join(unknown)}{hint}: `stackrank tasks` lists the tasks")
        chosen = [known[name] for name in names]
    if limit is not None and limit < len(chosen):
        chosen = [chosen[index * len(chosen) // limit] for index in range(limit)]
    return chosen
