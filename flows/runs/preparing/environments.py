"""Builds the environments of tasks, in parallel and each only once."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.environment import Environment
from stackrank.env.sandbox.base import Backend, BuildError, Say, spec_for
from stackrank.env.task import Task

_SAY_AFTER_S = 5.0


def build_environments(
    backend: Backend, tasks: Sequence[Task], workers: int, say: Say, prefixes: tuple[Environment, ...] = ()
) -> dict[str, str]:
    """Build the missing environments of the tasks. Returns the tasks that cannot be played: id -> reason.

    `prefixes`: what is installed in addition to each task's environment; see `SandboxSpec`.
    Raises SandboxError if the infrastructure fails.
    """
    groups: dict[tuple[str | None, Environment | None], list[Task]] = defaultdict(list)
    for task in tasks:
        if task.environment is not None or prefixes:
            groups[task.image, task.environment].append(task)

    def build(alike: list[Task]) -> str:
        try:
            backend.prepare(replace(spec_for(alike[0]), prefixes=prefixes), say)
        except (BuildError, BenchmarkError) as error:
            return " ".join(str(error).split())
        return ""

    failures: dict[str, str] = {}
    started = time.monotonic()
    with ThreadPoolExecutor(max_workers=max(workers, 1)) as threads:
        reasons = threads.map(build, groups.values())
        for number, (alike, reason) in enumerate(zip(groups.values(), reasons, strict=True), 1):
            failures |= {task.id: reason for task in alike if reason}
            if time.monotonic() - started > _SAY_AFTER_S:
                say(f"{number} of {len(groups)} environments of tasks are ready")
    return failures
