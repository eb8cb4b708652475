"""Builds the environments of tasks, in parallel and each only once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.environment import Environment
from stackrank.env.sandbox.base import Backend, BuildError, Say, spec_for
from stackrank.env.task import Task


def build_environments(
    backend: Backend, tasks: Sequence[Task], workers: int, say: Say, prefixes: tuple[Environment, ...] = ()
) -> dict[str, str]:
    """Build the missing environments of the tasks. Returns the tasks that cannot be played: id -> reason.

    `prefixes`: what is installed in addition to each task's environment; see `SandboxSpec`.
    Raises SandboxError if the infrastructure fails.
    """
    unprepared = [task for task in tasks if task.environment is not None or prefixes]

    def build(task: Task) -> str:
        try:
            backend.prepare(replace(spec_for(task), prefixes=prefixes), say)
        except (BuildError, BenchmarkError) as error:
            return " ".join(str(error).split())
        return ""

    with ThreadPoolExecutor(max_workers=max(workers, 1)) as threads:
        failures = dict(zip((task.id for task in unprepared), threads.map(build, unprepared), strict=True))
    return {task_id: reason for task_id, reason in failures.items() if reason}
