"""What a benchmark is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Protocol

from env.task import Task


class BenchmarkError(Exception):
    """The benchmark's data cannot be used; the message names the place and the remedy."""


class Benchmark(Protocol):
    """A family of tasks."""

    name: str
    license: str
    source: str
    """Where the tasks come from, for people."""

    def tasks(self) -> Sequence[Task]:
        """Every task, in a fixed order. Raises BenchmarkError."""
        ...

    def excluded(self) -> Mapping[str, str]:
        """Tasks of the source that are not played: id -> reason."""
        ...


def digest(tasks: Sequence[Task]) -> str:
    """One digest for a set of tasks: equal digests, equal tasks."""
    return hashlib.sha256("\n".join(sorted(f"{task.id} {task.digest}" for task in tasks)).encode()).hexdigest()[:16]
