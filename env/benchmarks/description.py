"""What lists show of tasks. A benchmark whose tasks take long to load may keep it in its own files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

from stackrank.env.benchmarks.base import Benchmark, BenchmarkError
from stackrank.env.benchmarks.testfiles import is_below, is_test_file, paths_named
from stackrank.env.difficulty import Difficulty, find_difficulty
from stackrank.env.scoring.blind import why_not_sealable
from stackrank.env.scoring.proof import Proof, find_proof
from stackrank.env.task import Task


@dataclass(frozen=True, slots=True)
class TaskDescription:
    """What lists show of one task."""

    id: str
    digest: str
    title: str
    category: str
    difficulty: str
    """As its author says; `measured` says more."""
    files: int | None
    """None if its repository is not available."""
    fault_files: tuple[str, ...]
    fail_to_pass: int
    test: str
    """The command from which the verdict comes."""
    visible_test: str
    agents_see: str
    """Which of the tests that decide agents see."""
    deciding: int | None = None
    """How many tests decide; None if the task has no proof."""
    covered: int | None = None
    distinguishing: int | None = None
    """How many answers to its hidden tests, asked without expected values, tell the program as given from the fix."""
    unsealable: str = ""
    """Why verdicts cannot be sealed."""
    measured: Difficulty | None = None

    @property
    def label(self) -> str:
        """easy, medium or hard as measured; if the task was not measured, what its author says."""
        return (self.measured.label if self.measured else "") or self.difficulty

    def document(self) -> dict[str, Any]:
        """Return the description as plain data."""
        return asdict(self)


def read_description(document: Mapping[str, Any]) -> TaskDescription:
    """Read what `document` returned."""
    measured = document["measured"]
    faults = tuple(document["fault_files"])
    return TaskDescription(
        **{**document, "fault_files": faults, "measured": Difficulty(**measured) if measured else None}
    )


def describe(task: Task) -> TaskDescription:
    """Return what lists show of a task. What is said of its tests holds for all its faults together."""
    judged = {part.name: part.task for part in task.parts if part.folder} or {"": task}
    by_fault = {name: proof for name, apart in judged.items() if (proof := find_proof(apart))}
    proofs, is_proved = by_fault.values(), len(by_fault) == len(judged)
    return TaskDescription(
        id=task.id,
        digest=task.digest,
        title=task.title,
        category=task.category,
        difficulty=task.difficulty,
        files=_count(task),
        fault_files=tuple(fault.file for fault in task.faults),
        fail_to_pass=sum(len(apart.fail_to_pass) for apart in judged.values()),
        test=task.score_command or task.test_command,
        visible_test=task.test_command,
        agents_see="a part" if "a part" in map(_visible_part, judged.values()) else _visible_part(task),
        deciding=sum(proof.deciding for proof in proofs) if is_proved else None,
        covered=sum(proof.covered for proof in proofs) if is_proved else None,
        distinguishing=sum(proof.distinguishing for proof in proofs) if is_proved else None,
        unsealable=_why_unsealable(judged, by_fault) if is_proved else "",
        measured=find_difficulty(task),
    )


def _why_unsealable(judged: Mapping[str, Task], proofs: Mapping[str, Proof]) -> str:
    """Return why verdicts cannot be sealed: the first reason, with the name of the fault that it is about."""
    for name, task in judged.items():
        if reason := why_not_sealable(task, proofs[name]):
            return f"{name}: {reason}" if name else reason
    return ""


@runtime_checkable
class DescribesTasks(Protocol):
    """A benchmark that can describe tasks without loading them."""

    def descriptions(self) -> tuple[Sequence[TaskDescription], Mapping[str, str]]:
        """Return all tasks, and those that are not played: id -> reason. Raises BenchmarkError."""
        ...


def descriptions_of(benchmark: Benchmark) -> tuple[Sequence[TaskDescription], Mapping[str, str]]:
    """Return the tasks of a benchmark, and those that are not played: id -> reason. Raises BenchmarkError."""
    if isinstance(benchmark, DescribesTasks):
        return benchmark.descriptions()
    return [describe(task) for task in benchmark.tasks()], benchmark.excluded()


def _visible_part(task: Task) -> str:
    if not task.test_command:
        return "statement alone"
    command = task.score_command or task.test_command
    try:
        places = paths_named(command, {*task.files, *task.hidden_files}) or ["."]
    except BenchmarkError:  # its repository is not available
        places = ["."]
    hidden = any(is_below(path, place) for path in filter(is_test_file, task.hidden_files) for place in places)
    return "a part" if hidden or command != task.test_command else "all tests"


def _count(task: Task) -> int | None:
    try:
        return len(task.files)
    except BenchmarkError:
        return None
