"""Environments are built before the first episode, side by side and each once; a task whose build fails is left out."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from env.benchmarks.base import BenchmarkError
from env.sandbox.base import Backend, BuildError, Say, spec_for
from env.task import Task


def prepare(backend: Backend, tasks: Sequence[Task], workers: int, say: Say) -> dict[str, str]:
    """Build what the tasks need and is not there yet. Returns the tasks that cannot be played: id -> reason.

    Raises SandboxError where the infrastructure fails.
    """
    needy = [task for task in tasks if task.environment is not None]

    def problem(task: Task) -> str:
        try:
            backend.prepare(spec_for(task), say)
        except (BuildError, BenchmarkError) as error:
            return " ".join(str(error).split())
        return ""

    with ThreadPoolExecutor(max_workers=max(workers, 1)) as threads:
        problems = dict(zip((task.id for task in needy), threads.map(problem, needy), strict=True))
    return {task: reason for task, reason in problems.items() if reason}
