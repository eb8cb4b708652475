"""The protocol of a benchmark, and what benchmarks share."""

from __future__ import annotations

import functools
import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from stackrank.env.task import Task
from stackrank.errors import UsageError


class BenchmarkError(UsageError):
    """The benchmark's data cannot be used; the message names the place and the remedy."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a benchmark's data is. Each benchmark says itself which of these it needs."""

    path: Path | None = None
    """The data: a folder or a file."""
    fixes: Path | None = None
    """A folder of known fixes, `<task>.patch`, for data that comes without fixes."""
    repos: Path | None = None
    """A folder of git repositories, for data that names commits."""
    environments: Path | None = None
    """A file that says how environments are built, for data whose images are not available."""
    seed: str = ""
    """For benchmarks that make their tasks: the seed from which they are made. Empty: today's date."""
    fetch: bool = True
    """Whether data that is not here yet may be fetched from a package index."""
    count: int | None = None
    """For benchmarks that make their tasks: how many. None: their default number."""
    sandbox: str | None = None
    """For benchmarks that make their tasks: the sandbox in which the tasks are proved. None: the default one."""


def is_hub_name(path: str) -> bool:
    """Whether a path is not a file or folder but may be a data set of the Hugging Face hub, `owner/name`."""
    return re.fullmatch(r"[\w-][\w.-]*/[\w.-]+(?<!\.json)(?<!\.jsonl)(?<!\.parquet)", path) is not None and not (
        Path(path).exists()
    )


class Benchmark(Protocol):
    """A family of tasks."""

    name: str
    """The set's own name; in a family of sets, `FAMILY/NAME` as `own_name` makes it. Tasks are pooled by this name."""
    license: str
    source: str
    """Where the tasks come from, for people."""

    def tasks(self) -> Sequence[Task]:
        """Return every task, in a fixed order. Raises BenchmarkError."""
        ...

    def excluded(self) -> Mapping[str, str]:
        """Return the tasks of the source that are not played: id -> reason."""
        ...


class TaskByTask(ABC):
    """A benchmark whose tasks are read one by one: a task that cannot be used is left out, and the others are kept."""

    empty = ""
    """The error for data without any usable task. If it is empty, that is no error, and `excluded` has the reasons."""
    notes: tuple[str, ...] = ()
    """What people should know about the data; complete once the tasks have been read."""

    def tasks(self) -> Sequence[Task]:
        """Return every task that can be used, in the order of the data. Raises BenchmarkError."""
        return self._loaded[0]

    def excluded(self) -> Mapping[str, str]:
        """Return the tasks that are not played, with the reason."""
        return self._loaded[1]

    @abstractmethod
    def _entries(self) -> Iterator[tuple[str, Callable[[], Task] | str]]:
        """Yield each task's name with a function that reads it, or why it is not played. Raises BenchmarkError."""

    @functools.cached_property
    def _loaded(self) -> tuple[tuple[Task, ...], dict[str, str]]:
        tasks: list[Task] = []
        excluded: dict[str, str] = {}
        for name, load in self._entries():
            if isinstance(load, str):
                excluded[name] = load
                continue
            try:
                tasks.append(load())
            except BenchmarkError as error:
                excluded[name] = " ".join(str(error).split())
        if self.empty and not tasks:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in list(excluded.items())[:3])
            raise BenchmarkError(f"{self.empty}. {reasons}".strip())
        return tuple(tasks), excluded


def own_name(family: str, name: str) -> str:
    """Return the name of one set of a family, such as `repo/shop`: two sets are two benchmarks."""
    return f"{family}/{name.strip() or 'unnamed'}"


def family_of(name: str) -> str:
    """Return the family to which a set belongs, which is what `stackrank run --benchmark` takes."""
    return name.partition("/")[0]


class Identified(Protocol):
    """A task, or what lists show of one."""

    @property
    def id(self) -> str:
        """The task's name."""
        ...

    @property
    def digest(self) -> str:
        """The task's digest."""
        ...


def digest(tasks: Sequence[Identified]) -> str:
    """Return one digest for a set of tasks; it is equal for equal tasks only."""
    return hashlib.sha256("\n".join(sorted(f"{task.id} {task.digest}" for task in tasks)).encode()).hexdigest()[:16]
