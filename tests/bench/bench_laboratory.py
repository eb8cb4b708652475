"""The overhead of the tools `inspect`, `trace`, `calls` and `snapshot`, beside the same test without them.

    python -m tests.bench.bench_laboratory [--tests N] [--rounds N] [--backend bubblewrap]

The longest tests of `bugs`, each followed at the function of the program that it calls most often, which is the worst
place. Ratios of the test's own time (the least of some rounds, which take turns); `inspect` runs to the last hit of
that place, so that the whole test runs. Then what a step takes on a test that does nothing, beside a run of that test
that nobody follows: the least of some rounds, in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from stackrank.env.actions import Action
from stackrank.env.benchmarks.registry import load_benchmark, select
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.base import Backend, spec_for
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.registry import backend
from stackrank.env.task import Task
from stackrank.env.tools import ToolSet, tool_names
from stackrank.env.tools.debugging.snapshot import BUDGET
from stackrank.env.tools.debugging.snapshot import STEPS as STEPS_SHOWN

MOST_TIMES = 3.0
"""Times its own length that a followed test may take."""
MOST_MS = 10.0
"""Milliseconds that a tool may take beside the program's own time."""
INSPECT_TIMES, INSPECT_MS = 1.5, 20.0
"""A run to a place may take so many times the test's own time, and so many milliseconds more."""
COLUMNS = ("inspect", "trace", "exception", "calls", "steps", "tree", "difference")
CLOCK = {"from_call": 0, "from_line": 0, "keep": STEPS_SHOWN + 1, "budget": BUDGET, "capture": 0}
HITS = {"skip": 0, "count": 20, "code": "", "condition": "", "exception": ""}
PLAIN: Mapping[str, Any] = {"mode": ""}
NOTHING = Task(
    id="nothing",
    benchmark="bench",
    statement="",
    files={
        "cart.py": b"def total(x):\n    return x\n",
        "test_cart.py": b"import cart\ndef test():\n    assert cart.total(1) > 1\n",
    },
    test_command="python -m pytest -q -p no:cacheprovider",
)
STEPS: Mapping[str, Mapping[str, Any]] = {
    "inspect": {"place": "total", "code": "x"},
    "trace": {"place": "total"},
    "calls": {"place": "total"},
    "snapshot": {},
}


def run(
    sandbox: Sandbox, task: Task, test: str, spec: Mapping[str, Any]
) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Test id -> seconds, and all records, of one run under an observer."""
    request = {"test": test, "first_failure": False, **spec}
    lines = sandbox.follow(task.test_command, request, task.limits.timeout_s).records
    records: list[dict[str, Any]] = list(map(json.loads, lines))
    return {record["test"]: record["seconds"] for record in records if record["kind"] == "test"}, records


def hottest(sandbox: Sandbox, task: Task, test: str) -> str:
    """The function of the program that a test calls most often, as `file:name`; empty: none."""
    _, records = run(sandbox, task, test, {"mode": "tree", "from_call": 0})
    counts: dict[str, int] = {}
    for row in next(record["rows"] for record in records if record["kind"] == "tree"):
        if "<" not in row["function"] and "test" not in row["file"]:
            name = f"{row['file']}:{row['function']}"
            counts[name] = counts.get(name, 0) + row["count"] + row["recursive"]
    return max(counts, key=lambda name: counts[name], default="")


def ratios(sandbox: Sandbox, task: Task, test: str, rounds: int) -> tuple[float, dict[str, float]]:
    """A test's seconds where nobody follows it, and mode -> how many times that it takes."""
    hot = hottest(sandbox, task, test)
    modes: dict[str, Mapping[str, Any]] = {"plain": PLAIN}
    if hot:
        modes |= {
            "trace": {"mode": "trace", "place": hot, **HITS},
            "exception": {"mode": "trace", "place": "", **HITS, "exception": "NoSuchError"},
            "calls": {"mode": "calls", "place": hot, "first": 1, "last": 8, "condition": "", "numbers": []},
        }
    modes |= {"steps": {"mode": "steps", **CLOCK}, "tree": {"mode": "tree", "from_call": 0}}
    modes["difference"] = {"mode": "path", "from_call": 0, "capture": 0}
    best = dict.fromkeys(modes, 1e9)
    for _ in range(rounds):
        for name, spec in modes.items():
            best[name] = min(best[name], run(sandbox, task, test, spec)[0].get(test, 1e9))
    times = {name: seconds / best["plain"] for name, seconds in best.items() if name != "plain"}
    if hot:
        times["inspect"] = to_the_place(sandbox, task, test, hot, rounds, best["plain"]) / best["plain"]
    return best["plain"], times


def to_the_place(sandbox: Sandbox, task: Task, test: str, hot: str, rounds: int, own_s: float) -> float:
    """Seconds that a test takes to the last hit of a place. The rest of the step is that of a run without a place."""
    trace = {"mode": "trace", "place": hot, **HITS, "count": 0}
    met = next(record["met"] for record in run(sandbox, task, test, trace)[1] if record["kind"] == "hits")
    specs = {"plain": PLAIN, "inspect": {**trace, "mode": "inspect", "skip": met - 1, "count": 1, "code": "1"}}
    best = dict.fromkeys(specs, 1e9)
    for _ in range(rounds):
        for name, spec in specs.items():
            started = time.perf_counter()
            run(sandbox, task, test, spec)
            best[name] = min(best[name], time.perf_counter() - started)
    return best["inspect"] - best["plain"] + own_s


def extra_ms(kind: Backend, rounds: int) -> dict[str, float]:
    """Tool -> milliseconds of a step beside those of the same run, not followed."""
    with DebugEnv(NOTHING, ToolSet("all", tuple(tool_names())), lambda spec: Sandbox(kind, spec)) as env:
        env.reset()
        best = dict.fromkeys(("plain", *STEPS), 1e9)
        for _ in range(rounds):
            started = time.perf_counter()
            run(env.sandbox, NOTHING, "test_cart.py::test", PLAIN)
            best["plain"] = min(best["plain"], time.perf_counter() - started)
            for tool, arguments in STEPS.items():
                best[tool] = min(best[tool], env.step(Action(tool, dict(arguments)))[0].env_ms / 1000)
    return {tool: (best[tool] - best["plain"]) * 1000 for tool in STEPS}


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=20)
    parser.add_argument("--tasks", type=int, default=None, help="look in so many tasks only")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--backend", default="bubblewrap")
    options = parser.parse_args()
    kind = backend(options.backend)
    tasks = load_benchmark("bugs").tasks()
    if options.tasks:
        tasks = select(tasks, None, options.tasks)
    durations: list[tuple[float, Task, str]] = []
    with Sandbox(kind, spec_for(tasks[0])) as sandbox:
        for task in tasks:
            sandbox.put(task.files, fresh=True)
            # The second run counts: what a first one imports is not the tests' own.
            run(sandbox, task, "", PLAIN)
            durations += [(seconds, task, test) for test, seconds in run(sandbox, task, "", PLAIN)[0].items()]
    longest = sorted(durations, key=lambda row: -row[0])[: options.tests]
    table = Table(title="times the test's own length")
    for name in ("test", "ms", *COLUMNS):
        table.add_column(name, justify="left" if name == "test" else "right")
    all_of: dict[str, list[float]] = {}
    for _, task, test in longest:
        with Sandbox(kind, spec_for(task)) as sandbox:
            sandbox.put(task.files)
            seconds, times = ratios(sandbox, task, test, options.rounds)
        for name, ratio in times.items():
            all_of.setdefault(name, []).append(ratio)
        cells = [f"{times[column]:.2f}" if column in times else "" for column in COLUMNS]
        table.add_row(f"{task.id} {test.rpartition('::')[2]}", f"{seconds * 1000:.1f}", *cells)
    for label, of in (("median", statistics.median), ("most", max)):
        table.add_row(label, "", *(f"{of(all_of[column]):.2f}" if column in all_of else "" for column in COLUMNS))
    console = Console(width=140)
    console.print(table)
    console.print(f"target: at most {MOST_TIMES:g} times; inspect: {INSPECT_TIMES:g} times and {INSPECT_MS:g} ms more")
    steps = Table(title="milliseconds of a step beside the program's own time")
    steps.add_column("tool")
    steps.add_column("ms", justify="right")
    for tool, ms in extra_ms(kind, 4 * options.rounds).items():
        steps.add_row(tool, f"{ms:.1f}")
    console.print(steps)
    console.print(f"target: less than {MOST_MS:g} ms")


if __name__ == "__main__":
    main()
