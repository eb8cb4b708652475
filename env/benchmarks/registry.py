"""All benchmarks, by name. Extensions and other packages add theirs to the entry point group `stackrank.benchmarks`."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from stackrank.env.benchmarks.aider import Aider
from stackrank.env.benchmarks.base import Benchmark, BenchmarkError, Source
from stackrank.env.benchmarks.bug_suite import BugSuite
from stackrank.env.benchmarks.mini_nightmare import MiniNightmare
from stackrank.env.benchmarks.repo import Repo
from stackrank.env.benchmarks.swebench.benchmark import SweBench, SweBenchDebug
from stackrank.env.task import Task
from stackrank.plugins import load_plugin, plugin_names

GROUP = "stackrank.benchmarks"
BUILT_IN: dict[str, Callable[[Source], Benchmark]] = {
    "bugs": BugSuite,
    "mini_nightmare": MiniNightmare,
    "aider": Aider,
    "swebench": SweBench,
    "swebench-debug": SweBenchDebug,
    "repo": Repo,
}


def benchmark_names() -> list[str]:
    """Return the names of all benchmarks."""
    return [*BUILT_IN, *plugin_names(GROUP)]


def load_benchmark(name: str, source: Source | None = None) -> Benchmark:
    """Return the benchmark of that name, on the data in `source`. Raises BenchmarkError, PluginError."""
    make = BUILT_IN.get(name) or load_plugin(GROUP, name)
    if make is None:
        raise BenchmarkError(f"there is no benchmark {name!r}: choose one of {', '.join(benchmark_names())}")
    benchmark: Benchmark = make(source or Source())
    return benchmark


def select(tasks: Sequence[Task], names: Sequence[str] | None, limit: int | None) -> list[Task]:
    """Return the tasks with these names (all if None), at most `limit`.

    A limit takes tasks evenly from the whole list, so that a small run sees every category.
    Raises BenchmarkError for an unknown name.
    """
    selected = list(tasks)
    if names:
        by_name = {task.id: task for task in tasks}
        unknown = [name for name in names if name not in by_name]
        if unknown:
            similar = [match for name in unknown for match in difflib.get_close_matches(name, by_name, 3, 0.5)]
            hint = f"; did you mean {', '.join(dict.fromkeys(similar))}?" if similar else ""
            raise BenchmarkError(f"there is no task {', '.join(unknown)}{hint} (`stackrank tasks` lists the tasks)")
        selected = [by_name[name] for name in names]
    if limit is not None and limit < len(selected):
        selected = [selected[index * len(selected) // limit] for index in range(limit)]
    return selected
