"""The processor time of a verdict, beside one plain run of the same tests in a sandbox.

    python -m tests.bench.bench_scoring [--tasks N] [--rounds N]


One row for each task of `bugs`: the plain run, the verdict on the known fix, the verdict on what was given. They take
turns, and of each the median counts. Processor time of this process and of its sandboxes (bubblewrap's: those of an
engine are no children of ours), because the time on a clock says what else the machine does. A plain run is the task's
test command as anybody would run it, without a reporter.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from stackrank.env.benchmarks.registry import load_benchmark, select
from stackrank.env.patches import apply_patch
from stackrank.env.sandbox.base import SandboxSpec, spec_for
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.sandbox.registry import backend
from stackrank.env.scoring.carry_over import carry_over
from stackrank.env.scoring.verdict import score
from stackrank.env.task import Task

BEFORE_RESOLVED, BEFORE_UNRESOLVED = 1.27, 1.25
"""Plain runs that a verdict took before it was graded blind: measured beside those of today on 24 tasks."""
MOST_RESOLVED = 2.0 * BEFORE_RESOLVED
"""Plain runs that the verdict on a resolved episode may take, on average over the tasks: twice what it took before."""
MOST_UNRESOLVED = 1.1 * BEFORE_UNRESOLVED
NewSandbox = Callable[[SandboxSpec], Sandbox]
_used_inside: list[float] = []
"""Milliseconds of a processor that each closed sandbox used: a sandbox that is forked is no child of this process."""


class _Counted(Sandbox):
    def close(self) -> None:
        if not self.closed:
            _used_inside.append(self.used_s() * 1000)
        super().close()


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one task, in milliseconds."""

    task: str
    plain: float
    resolved: float
    plain_given: float
    unresolved: float


def measure(task: Task, new_sandbox: NewSandbox, rounds: int) -> Cost:
    """Medians of some rounds: a plain run and a verdict of the fixed program, and of the given one."""
    fixed = apply_patch(task.files, task.fix)
    changes = Changes(files={path: content for path, content in fixed.items() if task.files.get(path) != content})

    def plain(these: Changes, passes: bool) -> None:
        work = carry_over(task, these)
        with new_sandbox(spec_for(task, warm=False)) as sandbox:
            sandbox.put({**work.files, **task.hidden_files})
            completed = sandbox.run(task.score_command or task.test_command, task.limits.timeout_s)
        assert (completed.exit == 0) is passes, completed.output

    def verdict(these: Changes, is_resolved: bool) -> None:
        assert score(task, these, new_sandbox).resolved is is_resolved

    deeds: list[Callable[[], None]] = [
        lambda: plain(changes, True),
        lambda: verdict(changes, True),
        lambda: plain(Changes(), False),
        lambda: verdict(Changes(), False),
    ]
    durations: list[list[float]] = [[] for _ in deeds]
    for _ in range(rounds):
        for deed, times in zip(deeds, durations, strict=True):
            used_before = _used_ms()
            deed()
            for thread in threading.enumerate():
                if thread.name == "sandbox-close":
                    thread.join()
            times.append(_used_ms() - used_before)
    return Cost(task.id, *map(statistics.median, durations))


def _used_ms() -> float:
    """Processor time of this process, of its children that have ended, and of its sandboxes that are closed."""
    usages = [resource.getrusage(target) for target in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages) * 1000 + sum(_used_inside)


def report(costs: list[Cost]) -> bool:
    """Print the table; whether both targets were met."""
    table = Table(title="verdicts: ms of a processor, and times a plain run")
    for column in ("task", "plain", "resolved", "ratio", "plain, given", "unresolved", "ratio"):
        table.add_column(column, justify="left" if column == "task" else "right")
    resolved = [cost.resolved / cost.plain for cost in costs]
    unresolved = [cost.unresolved / cost.plain_given for cost in costs]
    for cost, resolved_ms, unresolved_ms in zip(costs, resolved, unresolved, strict=True):
        row = (cost.plain, cost.resolved, resolved_ms, cost.plain_given, cost.unresolved, unresolved_ms)
        table.add_row(
            cost.task, *(f"{value:.2f}" if value in (resolved_ms, unresolved_ms) else f"{value:.0f}" for value in row)
        )
    means = statistics.mean(resolved), statistics.mean(unresolved)
    table.add_row("mean", "", "", f"{means[0]:.2f}", "", "", f"{means[1]:.2f}")
    table.add_row("target", "", "", f"<= {MOST_RESOLVED:.2f}", "", "", f"<= {MOST_UNRESOLVED:.2f}")
    Console(width=110).print(table)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    return means[0] <= MOST_RESOLVED and means[1] <= MOST_UNRESOLVED


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. Exit status 1 when a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    kind = backend("bubblewrap")
    tasks = select(load_benchmark("bugs").tasks(), None, options.tasks)
    return 0 if report([measure(task, lambda spec: _Counted(kind, spec), options.rounds) for task in tasks]) else 1


if __name__ == "__main__":
    sys.exit(main())
