"""What a benchmark is."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from env.task import Task


class BenchmarkError(Exception):
    """The benchmark's data cannot be used; the message names the place and the remedy."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a benchmark's data is. Which of these a benchmark needs, it says itself."""

    path: Path | None = None
    """The data: a folder or a file."""
    fixes: Path | None = None
    """A folder of known fixes, `<task>.patch`, for data that comes without."""
    repos: Path | None = None
    """A folder of git repositories, for data that names commits."""
    environments: Path | None = None
    """A file that says how environments are built, for data whose images cannot be had."""


def is_hub_name(path: str) -> bool:
    """Whether a path is no file or folder but may be a data set of the Hugging Face hub, `owner/name`."""
    return re.fullmatch(r"[\w-][\w.-]*/[\w.-]+(?<!\.json)(?<!\.jsonl)(?<!\.parquet)", path) is not None and not (
        Path(path).exists()
    )


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
