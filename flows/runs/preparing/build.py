"""Builds the environments before the first episode, in parallel and each only once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from stackrank.env.benchmarks.base import BenchmarkError, TaskByTask
from stackrank.env.environment import Environment
from stackrank.env.sandbox.base import Backend, BuildError, Say, spec_for
from stackrank.env.task import Task
from stackrank.flows.runs.preparing.ask_servers import ask_servers
from stackrank.flows.runs.preparing.check import CheckedRun
from stackrank.flows.runs.specification.spec import SpecError


def build(run: CheckedRun, say: Say) -> CheckedRun:
    """Build the environments of a run's tasks. Returns the run without the tasks whose environment cannot be built.

    `say` gets a line before each long wait, and the notes about the benchmark's data. Raises SpecError if no task is
    left, SandboxError.
    """
    for note in run.benchmark.notes if isinstance(run.benchmark, TaskByTask) else ():
        say(note)
    unbuilt = build_environments(run.backend, run.tasks, run.spec.workers, say)
    tasks = _left(run.tasks, unbuilt)
    run = ask_servers(replace(run, tasks=tasks), say)
    for prefixes in sorted({each.tools.prefixes for each in run.entrants if each.tools.prefixes}, key=str):
        unbuilt |= build_environments(run.backend, tasks, run.spec.workers, say, prefixes)
    return replace(run, tasks=_left(tasks, unbuilt), left_out={**run.left_out, **unbuilt})


def _left(tasks: Sequence[Task], unbuilt: Mapping[str, str]) -> tuple[Task, ...]:
    """Return the tasks that can be played. Raises SpecError if there is none."""
    left = tuple(task for task in tasks if task.id not in unbuilt)
    if not left:
        raise SpecError(f"no task is left: {next(iter(unbuilt.values()), 'the benchmark is empty')}")
    return left


def build_environments(
    backend: Backend, tasks: Sequence[Task], workers: int, say: Say, prefixes: tuple[Environment, ...] = ()
) -> dict[str, str]:
    """Build the missing environments of the tasks. Returns the tasks that cannot be played: id -> reason.

    `prefixes`: what is installed in addition to each task's environment; see `SandboxSpec`.
    Raises SandboxError if the infrastructure fails.
    """
    needy = [task for task in tasks if task.environment is not None or prefixes]

    def problem(task: Task) -> str:
        try:
            backend.prepare(replace(spec_for(task), prefixes=prefixes), say)
        except (BuildError, BenchmarkError) as error:
            return " ".join(str(error).split())
        return ""

    with ThreadPoolExecutor(max_workers=max(workers, 1)) as threads:
        problems = dict(zip((task.id for task in needy), threads.map(problem, needy), strict=True))
    return {task: reason for task, reason in problems.items() if reason}
