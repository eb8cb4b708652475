"""Decides which of an agent's changes count: those to files that it may edit, on a fresh copy of the task."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from stackrank.env.benchmarks.testfiles import is_test_file, test_folders
from stackrank.env.patches import touched_files
from stackrank.env.sandbox.client import Changes
from stackrank.env.sandbox.guest.core.messages import message
from stackrank.env.task import Task
from stackrank.patches.contents import Executable, runs_as_program

# Python, pytest or coverage load these because of their names, whoever wrote them: files, and modules of any form.
_LOADED_BY_NAME = {
    "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml", ".coveragerc",
    ".coveragerc.toml",
}  # fmt: skip
_IMPORTED_AT_START = {"sitecustomize", "usercustomize"}
_METADATA = (".dist-info", ".egg-info", ".egg", ".egg-link")
_SHADOWS = {"pytest", "_pytest", "pluggy", "iniconfig", "unittest"}
_REACHES_FOR_PYTEST = re.compile(rb"^[ \t]*(?:import|from)[ \t]+(?:_?pytest|pluggy)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Work:
    """An agent's work as the scorer uses it."""

    files: dict[str, bytes]
    """The task's files with the changes that were carried over."""
    given: dict[str, bytes]
    """The task's files without any change."""
    notes: tuple[str, ...]
    """The changes that were refused, a sentence each."""
    attempts: tuple[str, ...]
    """The notes, and other signs, about changes that could only have served to change the verdict."""

    @property
    def changed(self) -> list[str]:
        """The files that differ from the task's."""
        return [path for path, content in self.files.items() if self.given.get(path) != content]


def carry_over(task: Task, changes: Changes) -> Work:
    """Apply the agent's permitted changes to the task's files, and note what was refused."""
    work, original = dict(task.files), dict(task.files)
    rules = _Rules(task)
    notes, attempts = [], []

    def refuse(path: str, refusal: Refusal, content: bytes, deleted: bool = False) -> None:
        notes.append(message(f"not carried over: {path} {refusal.reason}" + (" (deleted)" if deleted else "")))
        if path in original or (refusal.changes_run and _only_deceives(path, content)):
            attempts.append(notes[-1])

    for path, content_in_sandbox in changes.files.items():
        content = _with_known_mode(content_in_sandbox, original.get(path))
        refusal = rules.refuse(path)
        if refusal is None:
            work[path] = content
        elif content != original.get(path):
            refuse(path, refusal, content)
    for path in changes.deleted:
        refusal = rules.refuse(path)
        if refusal is None:
            work.pop(path, None)
        else:
            refuse(path, refusal, b"", deleted=True)
    notes += [message(f"not carried over: {path} is a link or too large") for path in changes.skipped]
    for path, old in original.items():
        new = work.get(path, b"")
        if new is not old and _REACHES_FOR_PYTEST.search(new) and not _REACHES_FOR_PYTEST.search(old):
            attempts.append(message(f"{path} now imports what runs the tests"))
    return Work(work, original, tuple(notes), tuple(attempts))


def _with_known_mode(content: bytes, original: bytes | None) -> bytes:
    """Return a changed file as an executable one if the task's file is, unless its mode differs in the sandbox."""
    if original is None or runs_as_program(original) != isinstance(content, Executable):
        return content
    return Executable(content) if isinstance(original, Executable) else bytes(content)


class Refusal(NamedTuple):
    """Why a change is not carried over."""

    reason: str
    """What the file is or does; the sentence begins with its path."""
    changes_run: bool = False
    """Whether the file would change how the tests run."""


_CHANGES_RUN = Refusal(message("would change how the tests run"), changes_run=True)


class _Rules:
    """What an agent may change in a task, prepared once because an agent may have changed 100,000 files."""

    def __init__(self, task: Task) -> None:
        self._task = task
        # A task whose own fix touches such a file expects agents to do so too.
        self._expected = touched_files(task.fix) if task.fix else set()
        self._folders = test_folders((*task.files, *task.hidden_files))
        # If the project is pytest itself, or another of these, the change is to the project.
        self._shadows = _SHADOWS - {_stem(PurePosixPath(path).parts[0]) for path in task.files}

    def refuse(self, path: str) -> Refusal | None:
        """Return why an agent's change to `path` is not carried over, or None if it is."""
        name = PurePosixPath(path)
        expected = path in self._expected
        stems = set(map(_stem, name.parts))
        if (name.name in _LOADED_BY_NAME or "conftest" in stems) and not expected:
            return Refusal(message("configures the tests"))
        if stems & _IMPORTED_AT_START and not expected:
            return _CHANGES_RUN
        if any(part.lower().endswith(_METADATA) for part in name.parts):
            return _CHANGES_RUN
        if name.suffix == ".pth" or _stem(name.parts[0]) in self._shadows:
            return _CHANGES_RUN
        if not self._task.may_edit(path):
            return Refusal(message("is not editable"))
        if path in self._task.hidden_files:
            return Refusal(message("is one of the scorer's own files"))
        # If a task lists what may be edited, its author has decided.
        among = is_test_file(path) or not self._folders.isdisjoint(map(str, name.parents))
        if among and not (expected or self._task.editable):
            return Refusal(message("is among the tests"))
        return None


def _stem(part: str) -> str:
    """Return the name by which a file or folder is imported."""
    return part.partition(".")[0]


def _only_deceives(path: str, content: bytes) -> bool:
    """Whether a new file that would change how the tests run could only have served to change the verdict.

    Files that people write to run tests for themselves (tests, `conftest.py`, `pytest.ini`) or that an installation
    leaves (metadata without a pytest plug-in) are unwise at most: they were not carried over, so they had no part in
    the verdict.
    """
    metadata = any(part.lower().endswith(_METADATA) for part in PurePosixPath(path).parts)
    return b"pytest11" in content or not metadata
