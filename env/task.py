"""What a task is: one bug, with all that belongs to it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from stackrank.env.environment import Environment, files_digest
from stackrank.env.patterns import Matcher, Pattern

_MOST_GROWTH = 10
"""Tests may take so many times as long as in another state of the program before they count as hanging."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one sandbox may use. A limit always holds; there is no value that means 'none'."""

    timeout_s: float = 60.0
    """Seconds one command may take, the test command included."""
    memory_mb: int = 1024
    pids: int = 256
    cpus: float = 1.0
    disk_mb: int = 256
    """Megabytes the workspace and the temporary folder may hold together. They live in memory."""


def limit_after(seconds: float, least: float, longest: float) -> float:
    """Return the time limit, in seconds, of tests that took `seconds` in another state of the program.

    It is at least `least` and at most `longest`.
    """
    return min(longest, max(least, math.ceil(_MOST_GROWTH * seconds)))


@dataclass(frozen=True, slots=True)
class Fault:
    """Where the known fix touches one file."""

    file: str
    functions: tuple[str, ...]
    """Qualified names (`Class.method`) of the functions whose lines change; empty for module level."""
    lines: tuple[int, ...]
    """1-based lines of the file as the agent first sees it."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of several faults that a task has at once, judged apart from the others."""

    name: str
    folder: str
    """The folder of the workspace to which the fault is confined. Empty: the fault is anywhere in the workspace."""
    task: Task
    """The fault as a task of its own, with its own hidden tests, fix and proof; paths are relative to `folder`. Without
    a folder, it is the whole task with those of its tests that show the fault."""

    @property
    def digest(self) -> str:
        """What makes this part another one."""
        return self.task.digest if self.folder else repr(self.task.fail_to_pass)


@dataclass(frozen=True)
class Task:
    """One bug, or several at once: what the agent sees, and what the scorer knows."""

    id: str
    benchmark: str
    statement: str
    files: Mapping[str, bytes]
    """The workspace as the agent first sees it: relative POSIX path -> content."""
    test_command: str = "python -m pytest -q"
    """The command that fails because of the bug, run by `sh -c` in the workspace; the agent sees it. Empty: no test
    that decides is visible, and the agent has only the statement (`env.statement_alone`)."""
    score_command: str | None = None
    """The command that the verdict comes from; None: `test_command`."""
    log_format: str = ""
    """How results are read if the command is not pytest (`env.scoring.log_formats`). Empty: by its exit status."""
    status_decides: bool = False
    """Whether the command's exit status is the verdict although pytest runs inside it, unseen: its author has
    decided how results are judged."""
    title: str = ""
    category: str = ""
    difficulty: str = ""
    tags: tuple[str, ...] = ()
    fail_to_pass: tuple[str, ...] = ()
    """Test ids that must pass after the episode. Empty: every test of the scoring run must."""
    pass_to_pass: tuple[str, ...] = ()
    """Test ids that pass and have to keep passing."""
    dropped: tuple[str, ...] = ()
    """Ids in these lists that do not behave on this machine as the data says: they do not count. Not in the digest."""
    lists_from_elsewhere: bool = False
    """Whether the lists were made in another environment, so that validation may drop ids from them."""
    hidden_files: Mapping[str, bytes] = field(default_factory=dict)
    """Files that are put into the workspace for scoring; never in the agent's sandbox."""
    fix: str = ""
    """The known fix, a unified diff against `files`. Empty: no fix is known."""
    faults: tuple[Fault, ...] = ()
    readonly: tuple[Pattern, ...] = ()
    """Patterns of files that are visible and must not be edited."""
    editable: tuple[Pattern, ...] = ()
    """Patterns of files that may be edited. Empty: everything that is not read-only."""
    image: str | None = None
    toolchain: str = ""
    """What a program in another language than Python needs, such as `go`: the sandbox has all programs of the machine,
    or comes from the image of this name (`STACKRANK_TOOLCHAIN_IMAGE`). Empty: nothing."""
    environment: Environment | None = None
    """What has to be installed; None: nothing but Python, pytest and coverage."""
    shows_bug: bool = True
    """Whether the visible test command fails because of the bug. False if only hidden tests show it, or if other
    tests fail too, so that the command's success tells nothing."""
    failing_files: tuple[str, ...] = ()
    """The visible files whose tests fail because of the bug, if nothing else tells which. Not part of the digest."""
    limits: Limits = Limits()
    parts: tuple[Part, ...] = ()
    """The task's faults, if it has several that are judged one by one (`env.scoring.by_fault`). Empty: it has one."""
    steps: int | None = None
    """Most actions in an episode, unless a run says otherwise. None: what runs allow by default."""
    tokens: int | None = None
    """Most tokens in an episode, unless a run says otherwise. None: what runs allow by default."""
    proof: str = ""
    """The proof that comes with the task (`env.scoring.proof`), as JSON. Not part of the digest."""
    measured: str = ""
    """The difficulty that comes with the task (`env.difficulty`), as JSON. Not part of the digest."""

    @property
    def is_composed(self) -> bool:
        """Whether it has several faults, each in a folder of its own."""
        return any(part.folder for part in self.parts)

    @cached_property
    def must_pass(self) -> tuple[str, ...]:
        """The tests that have to start passing, without those that do not count."""
        return tuple(test for test in self.fail_to_pass if test not in self.dropped)

    @cached_property
    def must_stay(self) -> tuple[str, ...]:
        """The tests that have to go on passing, without those that do not count."""
        return tuple(test for test in self.pass_to_pass if test not in self.dropped)

    @cached_property
    def _readonly(self) -> Matcher:
        return Matcher(self.readonly)

    @cached_property
    def _editable(self) -> Matcher | None:
        return Matcher(self.editable) if self.editable else None

    def may_edit(self, path: str) -> bool:
        """Whether an agent's change to `path` (relative, POSIX) counts."""
        if self._readonly.matches(path):
            return False
        return self._editable is None or self._editable.matches(path)

    @cached_property
    def digest(self) -> str:
        """Hash of everything that could change a verdict; two tasks with the same digest are the same task."""
        digest = hashlib.sha256()
        parts = [self.id, self.statement, self.test_command, self.score_command or "", self.fix, repr(self.limits)]
        patterns = (tuple(pattern.text for pattern in group) for group in (self.readonly, self.editable))
        parts += [repr(part) for part in (self.fail_to_pass, self.pass_to_pass, *patterns)]
        parts += [self.image or "", self.environment.digest if self.environment else "", str(self.shows_bug)]
        parts.append(self.log_format)
        parts += ["status"] if self.status_decides else []
        parts += [f"{part.name} {part.folder} {part.digest}" for part in self.parts]
        parts += [f"{self.steps} {self.tokens}"] if self.steps or self.tokens else []
        parts += [f"toolchain {self.toolchain}"] if self.toolchain else []
        parts += [files_digest(files) for files in (self.files, self.hidden_files)]
        for part in parts:
            digest.update(part.encode() + b"\0")
        return digest.hexdigest()[:16]
