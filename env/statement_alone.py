"""A task as agents see it without a failing test: the statement, the program, and tests that do not show the bug.

The verdict is that of the given task, whatever the agent saw.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import PurePosixPath

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.git import CommitFiles
from stackrank.env.benchmarks.testfiles import is_test, paths_named, shell_command
from stackrank.env.patterns import Pattern
from stackrank.env.sandbox.client import Changes
from stackrank.env.sandbox.guest.testing.commands import pytest_run
from stackrank.env.sandbox.guest.testing.ids import path_of
from stackrank.env.task import Task


@dataclass(frozen=True, slots=True)
class StatementView:
    """What an agent is shown of a task."""

    task: Task
    """The task without its failing tests. Its command runs the tests that are left, else `own_test`."""
    own_test: str
    """A test file that does not exist and that the agent may write to reproduce what is reported."""
    runs: bool
    """Whether any visible test is left to run."""
    withheld: frozenset[str]
    """The files of the failing tests."""

    def for_verdict(self, changes: Changes) -> Changes:
        """Return an agent's changes without its own test and without files at a withheld file's path, unknown to it."""
        hidden_paths = {*self.withheld, self.own_test}
        files = {path: content for path, content in changes.files.items() if path not in hidden_paths}
        return replace(changes, files=files)


def statement_alone(task: Task) -> StatementView:
    """Return what is shown of a task without a failing test. Raises BenchmarkError if it names none to withhold."""
    withheld = _withheld(task)
    if task.shows_bug and not withheld:
        raise BenchmarkError(f"its test command names no test file that could be withheld ({task.test_command})")
    files = _without(task.files, withheld)
    own_test = next(name for number in count() if (name := f"test_reproduction{number or ''}.py") not in files)
    command, runs = _command(task, files, withheld, own_test)
    visible_task = replace(
        task,
        files=files,
        test_command=command,
        shows_bug=False,
        readonly=(*task.readonly, Pattern.literal(own_test).inverted),
        editable=(*task.editable, Pattern.literal(own_test)) if task.editable else (),
    )
    return StatementView(visible_task, own_test, runs, frozenset(withheld))


def _withheld(task: Task) -> set[str]:
    """Return the files with failing visible tests: those the task names, else its lists name, else its command runs."""
    if not task.test_command:
        return set()  # no visible test decides
    if task.failing_files:
        return set(task.failing_files)
    run = pytest_run(task.test_command)
    folder = run.folder if run is not None else "."
    listed = [_file_of(test, folder, task) for test in task.fail_to_pass]
    if listed and all(listed):
        return {path for path in listed if path in task.files}
    if not task.shows_bug:
        return set()
    test_files = _test_files_run(task.test_command, folder, task.files)
    # A command may also name the program itself.
    return {path for path in test_files if is_test(path) or not task.may_edit(path)}


def _file_of(test: str, folder: str, task: Task) -> str:
    """Return the file of a test id, which is relative to the workspace or the command's folder; else empty."""
    path = path_of(test)
    candidates = (path, str(PurePosixPath(folder, path))) if path != test else ()
    return next((path for path in candidates if path in task.files or path in task.hidden_files), "")


def _test_files_run(command: str, folder: str, files: Collection[str]) -> set[str]:
    """Return the test files that a command runs."""
    targets = paths_named(command, files)
    files_named = {path for path in targets if path in files}
    folders = [path for path in targets if path not in files_named] or ([] if files_named else [folder])
    return files_named | {
        path for path in files if _is_test_file(path) and any(_is_in(path, folder) for folder in folders)
    }


def _command(task: Task, files: Collection[str], withheld: Collection[str], own_test: str) -> tuple[str, bool]:
    """Return the command without the withheld files, and whether it runs any test as given."""
    run = pytest_run(task.test_command)
    if not task.test_command and (judged := pytest_run(task.score_command or "")):
        workspace = {*task.files, *task.hidden_files}
        named = set(paths_named(task.score_command or "", workspace))
        options = [word for word in judged.arguments if not _is_path_of(word, judged.folder, named)]
        return shell_command(judged, [*options, f"{_way_up(judged.folder)}{own_test}"]), False
    if run is None:
        command = not withheld and task.test_command
        return (task.test_command, True) if command else (f"python {own_test}", False)
    if not withheld:
        return task.test_command, True
    arguments = [word for word in run.arguments if not _is_path_of(word, run.folder, withheld)]
    command = shell_command(run, arguments)
    targeted = paths_named(task.test_command, {*files, *withheld})
    targets = paths_named(command, files) if targeted else [run.folder]
    if targets and _test_files_run(command, run.folder, files):
        return command, True
    options = [word for word in arguments if not _is_path_of(word, run.folder, targets)]
    return shell_command(run, [*options, f"{_way_up(run.folder)}{own_test}"]), False


def _way_up(folder: str) -> str:
    """Return the path that leads from a folder of the workspace to the workspace."""
    return "../" * len([part for part in PurePosixPath(folder).parts if part != "."])


def _is_path_of(word: str, folder: str, paths: Collection[str]) -> bool:
    return not word.startswith("-") and str(PurePosixPath(folder, path_of(word))) in paths


def _is_in(path: str, folder: str) -> bool:
    return folder == "." or path.startswith(f"{folder}/")


def _is_test_file(path: str) -> bool:
    name = PurePosixPath(path).name
    return name.endswith(".py") and is_test(name) and name != "conftest.py"


def _without(files: Mapping[str, bytes], removed: Collection[str]) -> Mapping[str, bytes]:
    if not removed:
        return files
    if isinstance(files, CommitFiles):
        return files.with_changes(dict.fromkeys(removed))
    return {path: content for path, content in files.items() if path not in removed}
