"""A task of the `repo` benchmark from a commit that fixed a bug: its tests, its fix, and the state before it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.git import (
    CommitFiles,
    diff_of,
    open_repository,
    parent_and_message,
    resolve_commit,
)
from stackrank.env.benchmarks.python_project.compiled import find_compiled
from stackrank.env.benchmarks.python_project.guess_setup import declared_requirements, guess_setup
from stackrank.env.benchmarks.python_project.pytest_command import command_start
from stackrank.env.benchmarks.python_project.pytest_settings import pytest_settings
from stackrank.env.benchmarks.repo_schema import (
    TASKS_FILE,
    LimitsEntry,
    PythonEntry,
    SourceEntry,
    TaskEntry,
    TasksFile,
    id_from,
    read_tasks,
    write_tasks,
)
from stackrank.env.benchmarks.testfiles import as_argument, can_be_named, is_test, paths_named
from stackrank.env.patterns import Matcher, Pattern, globs
from stackrank.env.scoring.log_formats import log_formats
from stackrank.env.scoring.report import PASSED, TestReport
from stackrank.patches.reading import FilePatch, Patch
from stackrank.wording import count_of

_RUNNABLE = re.compile(r"(^|/)(test[^/]*|[^/]*_test)\.py$")
_TESTS_ELSEWHERE = Matcher(
    globs(("test_*.*", "*[_.-]test.*", "*[_.-]tests.*", "*.spec.*", "*Test.*", "*Tests.*", "__tests__/**", "spec/**"))
)
_COMPILERS = LimitsEntry(memory_mb=2048, disk_mb=512, pids=512)
"""What compilers need."""


@dataclass(frozen=True)
class TaskOptions:
    """What the caller says about the task; empty fields are worked out."""

    id: str = ""
    statement: str = ""
    test: str = ""
    setup: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    python: str = ""
    subdir: str = "."
    hidden_tests: bool = False
    timeout_s: float = 300.0
    toolchain: str = ""
    results: str = ""


@dataclass(frozen=True)
class Draft:
    """A task without its lists of tests, and its patches."""

    entry: TaskEntry
    fix: Patch
    test_patch: Patch
    notes: tuple[str, ...] = ()
    """What of the commit is no part of the task, a sentence each."""


def draft(repo: str, commit: str, options: TaskOptions) -> Draft:
    """Split a commit into its tests and its fix. Raises BenchmarkError if it cannot become a task."""
    repository = open_repository(repo, commit, Path.cwd())
    fixing_commit = resolve_commit(repository, commit)
    parent_commit, _message = parent_and_message(repository, fixing_commit)
    difference = diff_of(repository, parent_commit, fixing_commit, options.subdir)
    subdir = options.subdir.strip("/") or "."
    parent_files = CommitFiles(repository, parent_commit, subdir=subdir)
    own_names = _own_test_names(CommitFiles(repository, fixing_commit, subdir=subdir), options.test)
    tests, fix = split(difference.patch, bool(options.toolchain), own_names)
    short = fixing_commit[:12]
    if not tests.files:
        raise BenchmarkError(
            f"{short} changes no test, so nothing shows the bug: choose a commit that includes a test, "
            "or name its test files in --test"
        )
    if not fix.files:
        raise BenchmarkError(f"{short} changes only tests, so it contains no fix")
    if not options.toolchain and not any(path.endswith(".py") for path in fix.paths):
        _refuse_compiled(fix)
    if options.toolchain and not (options.test and options.results):
        raise BenchmarkError(
            f"a task in {options.toolchain} needs --test, the command that builds and tests, and --results, how its "
            f"output is read: {', '.join(log_formats())}"
        )
    changed_tests = [file.new for file in tests.files if file.new is not None and file.new.endswith(".py")]
    runnable = [path for path in changed_tests if _RUNNABLE.search(path) or own_names.matches(path)]
    if not (runnable or options.test):
        raise BenchmarkError(
            f"{short} changes no test file that pytest would run: name the test command with --test, and for tests in "
            "another language than Python --toolchain and --results too"
        )
    unnameable = [] if options.test else [path for path in runnable if not can_be_named(path)]
    if unnameable and len(unnameable) == len(runnable):
        raise BenchmarkError(
            f"pytest cannot run {unnameable[0]} by its path, in which `[` and `::` mean something else: name the "
            "folder above it with --test"
        )
    below = "" if subdir == "." else f"{subdir}/"
    setup, requirements = list(options.setup), list(options.requirements)
    if not (setup or options.toolchain):
        setup = guess_setup(repository, parent_commit, below, later=fixing_commit)
        requirements = declared_requirements(parent_files, requirements) if setup else requirements
    entry = TaskEntry(
        id=options.id or f"{id_from(Path(repo.rstrip('/')).name.removesuffix('.git'))}-{fixing_commit[:8]}",
        source=SourceEntry(git=repo if "://" in repo else str(repository), commit=parent_commit, subdir=options.subdir),
        test=options.test
        or " ".join(
            [
                command_start(parent_files),
                *(shlex.quote(as_argument(path)) for path in runnable if path not in unnameable),
            ]
        ),
        statement=options.statement,
        setup=setup,
        python=PythonEntry(version=options.python or None, requirements=requirements),
        hidden_tests=options.hidden_tests,
        timeout_s=options.timeout_s,
        toolchain=options.toolchain,
        results=options.results,
        limits=_COMPILERS if options.toolchain else None,
    )
    entry = entry.model_copy(update={"fix": f"{entry.id}.fix.patch", "test_patch": f"{entry.id}.tests.patch"})
    notes = [f"submodule {path} changes too, and is left as it is" for path in difference.submodules]
    notes += [f"{path} is in Git LFS: the task has only the pointer to it" for path in difference.pointers]
    notes += [f"{path} does not run: pytest cannot run it by its path" for path in unnameable]
    return Draft(entry, fix, tests, tuple(notes))


def _refuse_compiled(fix: Patch) -> None:
    """Raise BenchmarkError if the fix changes a file that is compiled."""
    if compiled := find_compiled(fix.paths):
        raise BenchmarkError(
            f"the tests show no bug, because the fix changes {compiled}, which is compiled only when the environment "
            "is built: choose a commit whose fix is in Python"
        )


def _own_test_names(files: CommitFiles, command: str) -> Matcher:
    """Return what matches the test files of a project that its settings for pytest, or a test command, name."""
    setting = pytest_settings(files).get("python_files", ())
    patterns = setting.split() if isinstance(setting, str) else map(str, setting)
    named_files = (path for path in paths_named(command, files) if path in files)
    # With `*.py`, only the folders tell which files are tests.
    telling = (pattern for pattern in patterns if pattern.strip("*").removesuffix(".py"))
    return Matcher([*globs(telling), *map(Pattern.literal, named_files)])


def split(patch: Patch, any_language: bool = False, own_names: Matcher | None = None) -> tuple[Patch, Patch]:
    """Return the parts of a patch that change tests, and those that change other files.

    `any_language`: tests may be in another language than Python, and are recognised by its usual names. `own_names`:
    matches tests that have other names.
    """

    def tests(file: FilePatch) -> bool:
        if is_test(file.path) or (own_names is not None and own_names.matches(file.path)):
            return True
        return any_language and _TESTS_ELSEWHERE.matches(file.path)

    return patch.where(tests), patch.where(lambda file: not tests(file))


def save(draft: Draft, folder: Path, broken: TestReport | None = None, fixed: TestReport | None = None) -> TaskEntry:
    """Write the task into the folder's `tasks.yaml`, in place of one with the same id, and its patches next to it.

    With reports of the states before and after the fix, the task gets its lists of tests. Raises BenchmarkError.
    """
    entry = draft.entry
    if broken is not None and fixed is not None:
        entry = entry.model_copy(update=_lists(broken, fixed, draft))
        if not entry.statement:
            listed = "\n".join(f"- {test}" for test in entry.fail_to_pass)
            entry = entry.model_copy(update={"statement": f"These tests fail and should pass:\n{listed}\n"})
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / TASKS_FILE
    content = read_tasks(file)[0] if file.exists() else TasksFile(schema=1, tasks=[entry])
    other_tasks = [task for task in content.tasks if task.id != entry.id]
    (folder / f"{entry.id}.fix.patch").write_bytes(draft.fix.text.encode())
    (folder / f"{entry.id}.tests.patch").write_bytes(draft.test_patch.text.encode())
    write_tasks(file, content.model_copy(update={"tasks": [*other_tasks, entry]}))
    return entry


def _lists(broken: TestReport, fixed: TestReport, draft: Draft) -> dict[str, list[str]]:
    was_good = {test for test, outcome in broken.outcomes.items() if outcome in PASSED}
    good = [test for test, outcome in fixed.outcomes.items() if outcome in PASSED]
    fail_to_pass = [test for test in good if test not in was_good]
    if not fail_to_pass and not draft.entry.toolchain:
        _refuse_compiled(draft.fix)
    if not fail_to_pass:
        skipped = sum(outcome == "skipped" for outcome in fixed.outcomes.values())
        tests = count_of(skipped, "test is", "tests are")
        hints = [f"{tests} skipped, perhaps for what --require or --setup could install"] if skipped else []
        if "sys.version_info" in draft.fix.text + draft.test_patch.text:
            hints.append("the commit looks at the version of Python, so the bug may show with another --python")
        raise BenchmarkError(
            "the tests that pass with the fix also pass without it: they do not show the bug"
            + (f" ({'; '.join(hints)})" if hints else "")
        )
    return {"fail_to_pass": fail_to_pass, "pass_to_pass": [test for test in good if test in was_good]}
