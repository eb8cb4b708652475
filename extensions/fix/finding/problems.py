"""Finds the open problems of a project, as tasks without a known fix."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.python_project.remedies import describe_older
from stackrank.env.benchmarks.repo_schema import (
    TASKS_FILE,
    DefaultsEntry,
    PythonEntry,
    SourceEntry,
    TaskEntry,
    TasksFile,
    id_from,
    write_tasks,
)
from stackrank.env.benchmarks.testfiles import is_test, test_folders
from stackrank.env.localisation.formulas import ochiai
from stackrank.env.localisation.spectrum import AT_IMPORT, SourceLine, Spectrum, Unmeasured, measure_suite
from stackrank.env.patches import enclosing
from stackrank.env.patterns import Pattern
from stackrank.env.sandbox.base import Backend, Say
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.guest.testing.ids import function_of, path_of
from stackrank.env.task import limit_after
from stackrank.extensions.fix.finding.project import Project
from stackrank.extensions.fix.finding.suite import Suite
from stackrank.wording import count_of

_MOST_KEPT_FILES = 5
_LEAST_S = 20
"""Tests may take so long with any change: those that failed at once may take longer than before."""
MEASURED_TIMES = 3
"""The factor by which a suite's time limit is extended while it is measured."""


@dataclass(frozen=True)
class Problem:
    """What is to be fixed: tests that fail together, or an issue."""

    name: str
    title: str
    statement: str
    tests: tuple[str, ...]
    suite: Suite
    """The suite's result before the fix, including the test that represents an issue."""
    test_diff: str = ""
    """A diff that adds the test that represents an issue."""
    parts: tuple[tuple[str, ...], ...] = ()
    """Smaller groups of the tests, if they are one problem only because the same lines are most suspicious."""
    keeps: tuple[str, ...] = ()
    """Tests of other files that an earlier change broke: whoever plays the problem sees them, and none may break."""
    seconds: float = field(default=0.0, compare=False)
    """How long its tests take as given; 0 if that is not known. It is measured, so it tells no problems apart."""


def find_problems(project: Project, suite: Suite, backend: Backend, say: Say) -> list[Problem]:
    """Group the failing tests that seem to have the same cause into problems.

    Tests that fail in the same function of the program are a group. The other tests are grouped if they belong to the
    same test function, and the program function run by the fewest tests is the same for them. Groups whose most
    suspicious lines are in the same function are one problem. Files that cannot be imported for the same reason are
    one, too.

    Raises BenchmarkError if no test of the suite passes, because then a fix cannot be told from damage. Files that
    cannot be imported are an exception, because their own tests tell a fix from damage.
    """
    if not suite.passing and not any(map(is_file, suite.failing)):
        reason = next(suite.reasons, "none is found")
        raise BenchmarkError(
            f"no test of {project.name} passes ({reason[:400]}), so fixes cannot be checked: install the project with "
            f"--setup and --require, or name its test command with --test{describe_older(reason, project.files)}"
        )
    if not suite.failing:
        return []
    # A single test needs no grouping, and measuring a suite takes longer than running it.
    near = project.targets_of(suite.failing) if suite.is_long else ()
    spectrum = _spectrum(project, backend, near, say) if len(suite.failing) > 1 else None
    groups: dict[tuple[str, ...], list[str]] = {}
    for test in sorted(suite.failing):
        place = spectrum and _place(project.files, spectrum.failures.get(test, ()))
        if is_file(test):
            key: tuple[str, ...] = ("", suite.failing[test])
        else:
            key = (place,) if place else (function_of(test), _own_function(project.files, spectrum, test))
        groups.setdefault(key, []).append(test)
    problems: list[Problem] = []
    for parts in _merge([(tests, _suspect_functions(project.files, spectrum, tests)) for tests in groups.values()]):
        tests = sorted(test for part in parts for test in part)
        problems.append(_problem(suite, tests, tuple(parts) if len(parts) > 1 else (), problems))
    return problems


def _merge(groups: Sequence[tuple[Sequence[str], frozenset[str]]]) -> list[list[tuple[str, ...]]]:
    """Put groups of tests together that have a suspect function in common, directly or through others."""
    merged: list[tuple[list[tuple[str, ...]], set[str]]] = []
    for tests, suspects in groups:
        parts, functions = [tuple(tests)], {*suspects}
        separate = []
        for other_parts, other_functions in merged:
            if functions & other_functions:
                parts, functions = other_parts + parts, functions | other_functions
            else:
                separate.append((other_parts, other_functions))
        merged = [*separate, (parts, functions)]
    return [parts for parts, _ in merged]


def is_file(test: str) -> bool:
    """Whether this is not the id of a test but a test file that cannot be imported."""
    return "::" not in test


def split_up(
    problems: Sequence[Problem], several: Mapping[str, Sequence[Collection[str]]], fixed: Collection[str]
) -> list[Problem]:
    """Split problems that turned out to have several causes, and return their parts as problems. Parts that the same
    episodes fixed stay one problem; if the episodes fixed only some of each part, every part becomes a problem.

    `several`: the name of such a problem -> for each episode that fixed some of it, the tests it left failing;
    `fixed`: the tests that some proposal fixes.
    """
    parts: list[Problem] = []
    for problem in problems:
        groups: dict[tuple[bool, ...], list[str]] = {}
        for part in problem.parts if problem.name in several else ():
            groups.setdefault(tuple(bool({*part} & {*unfixed}) for unfixed in several[problem.name]), []).extend(part)
        for tests in groups.values() if len(groups) > 1 else (problem.parts if groups else ()):
            if not {*tests} <= {*fixed}:
                split_off = _problem(problem.suite, tests, (), [*problems, *parts])
                parts.append(replace(split_off, seconds=problem.seconds))
    return parts


def explain_missing(problem: Problem, reason: str, fixed: Collection[str]) -> str:
    """Say why a problem has no proposal: `reason`, and that other bugs hide it, if proposals fix some of its tests."""
    solved = len({*problem.tests} & {*fixed})
    suffix = (
        f"; proposals fix {solved} of its {count_of(len(problem.tests), 'test')}: once they are in, "
        "`stackrank fix` shows the rest"
    )
    return reason + suffix * bool(solved)


def _problem(
    suite: Suite, tests: Sequence[str], parts: tuple[tuple[str, ...], ...], problems: Sequence[Problem]
) -> Problem:
    listed = "\n".join(f"- {test}: {suite.failing[test]}".rstrip(": ") for test in tests)
    if is_file(tests[0]):
        opening = "These files of tests cannot be imported. All of their tests have to pass"
    else:
        opening = f"{'This test fails and has' if len(tests) == 1 else 'These tests fail and have'} to pass"
    name = unique_name(id_from(tests[0].replace(".py::", ".").replace("::", ".").replace("/", ".")), problems)
    return Problem(name, title_of(tests), f"{opening}:\n{listed}\n", tuple(tests), suite, parts=parts)


def with_tests(problem: Problem, tests: Sequence[str], suite: Suite) -> Problem:
    """Return a problem with only these of its tests."""
    if list(tests) == list(problem.tests):
        return replace(problem, suite=suite)
    parts = [tuple(test for test in part if test in tests) for part in problem.parts]
    remaining = _problem(suite, tests, tuple(filter(None, parts)), ())
    kept_parts = remaining.parts if len(remaining.parts) > 1 else ()
    return replace(remaining, name=problem.name, parts=kept_parts, keeps=problem.keeps)


def keeping(problem: Problem, broken: Sequence[str], problems: Sequence[Problem]) -> Problem:
    """Return a problem, under a name of its own, that nobody fixes by breaking these tests again.

    Those of the files with the most of them are enough.
    """
    files = {path for path, _ in Counter(map(path_of, broken)).most_common(_MOST_KEPT_FILES)}
    keeps = tuple(test for test in broken if path_of(test) in files)
    return replace(problem, name=unique_name(problem.name, problems), keeps=keeps, parts=())


def title_of(tests: Sequence[str]) -> str:
    """Return the title of a problem that these tests show."""
    verb = "cannot be imported" if is_file(tests[0]) else "fails"
    return f"{tests[0]} {verb}" + (f", and {len(tests) - 1} more" if len(tests) > 1 else "")


def unique_name(name: str, problems: Sequence[Problem]) -> str:
    """Return the name, with a number if another problem has it."""
    names = {candidate.name for candidate in problems}
    short = name[:80].rstrip("-.")
    return next(
        candidate
        for candidate in (short, *(f"{short}-{n}" for n in range(2, len(names) + 3)))
        if candidate not in names
    )


def measured(project: Project, backend: Backend, files: Mapping[str, bytes], only: Sequence[str] = ()) -> Spectrum:
    """Measure which lines the suite, or `only` these tests, runs on these files. Raises Unmeasured, SandboxError."""
    command = project.command.on(only or project.command.targets, "--continue-on-collection-errors")
    with Sandbox(backend, project.spec) as sandbox:
        return measure_suite(sandbox, files, command, project.timeout_s * MEASURED_TIMES)


def _spectrum(project: Project, backend: Backend, only: Sequence[str], say: Say) -> Spectrum | None:
    try:
        return measured(project, backend, project.files, only)
    except Unmeasured as error:
        say(f"{project.name}: tests that fail for one reason cannot be told, so each is a problem of its own ({error})")
        return None


def _suspect_functions(files: Mapping[str, bytes], spectrum: Spectrum | None, tests: Sequence[str]) -> frozenset[str]:
    """Return the functions that have the most suspicious lines that all these tests run; empty if nothing is known."""
    suspects = _suspects(spectrum, tests)
    return frozenset(
        f"{file}:{function}"
        for file, lines in (spectrum.lines.items() if spectrum is not None else ())
        for function in enclosing(files[file], [line for line, group in lines.items() if group in suspects])
    )


def _suspects(spectrum: Spectrum | None, tests: Sequence[str]) -> frozenset[int]:
    """Return the most suspicious groups of lines among those that all these tests run; empty if nothing is known."""
    if spectrum is None or not {*tests} <= {*spectrum.tests}:
        return frozenset()
    indices = {spectrum.tests.index(test) for test in tests}
    groups = {group for lines in spectrum.lines.values() for group in lines.values()}
    scores = {
        n: ochiai(spectrum.by_group[n])
        for n in groups
        if indices <= spectrum.groups[n] and AT_IMPORT not in spectrum.groups[n]
    }
    highest = max(scores.values(), default=0.0)
    return frozenset(n for n, score in scores.items() if score == highest)


def _own_function(files: Mapping[str, bytes], spectrum: Spectrum | None, test: str) -> str:
    """Return the program function of this test that the fewest tests run; empty if nothing is known about the test."""
    if spectrum is None or test not in spectrum.tests:
        return ""
    size = [len(group) for group in spectrum.groups]
    lines = spectrum.run_by(test)
    file, line = min(lines, key=lambda place: (size[spectrum.lines[place[0]][place[1]]], place), default=("", 0))
    return f"{file}:{next(iter(enclosing(files[file], [line])), '')}" if file else ""


def _place(files: Mapping[str, bytes], frames: Sequence[SourceLine]) -> str:
    """Return the innermost function of the program in a traceback; empty if it has none."""
    for file, line in reversed(frames):
        if not is_test(file):
            return f"{file}:{next(iter(enclosing(files[file], [line])), '')}"
    return ""


def write_problems(project: Project, problems: Sequence[Problem], out: Path) -> Path:
    """Write the problems as tasks into the folder `out`, and return the file."""
    return write_entries(project, [_entry(project, problem) for problem in problems], out)


def write_entries(project: Project, tasks: list[TaskEntry], out: Path) -> Path:
    """Write tasks of a project into the folder `out`, and return the file."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / TASKS_FILE
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", project.name)
    content = TasksFile(schema=1, name=f"fix-{name}", defaults=DefaultsEntry(timeout_s=project.timeout_s), tasks=tasks)
    write_tasks(file, content)
    return file


def _entry(project: Project, problem: Problem) -> TaskEntry:
    """Make the task of a problem: its tests, and the passing tests of the same files and of those that it keeps. Other
    failing tests are left out.

    The tests of a file that cannot be imported are unknown, so its task has no lists of tests, and all must pass.
    """
    suite = problem.suite
    judging = (*problem.tests, *problem.keeps)
    files = sorted({path_of(test) for test in judging})
    neighbours = sorted({test for test in suite.passing if path_of(test) in files}.union(problem.keeps))
    excluded = {*suite.failing, *suite.flaky, *suite.not_isolated, *suite.lacking} - set(problem.tests)
    # pytest deselects all tests with this prefix, and `test_x` is a prefix of `test_x_again`.
    counted = (*problem.tests, *neighbours)
    pass_to_pass = sorted(
        test for test in excluded if path_of(test) in files and not any(prefix.startswith(test) for prefix in counted)
    )
    deselected = (f"--deselect={test}" for test in pass_to_pass)
    return entry_of(
        project,
        problem.name,
        project.command.on(project.targets_of(judging), *deselected),
        title=problem.title,
        statement=problem.statement,
        fail_to_pass=[] if is_file(problem.tests[0]) else list(problem.tests),
        pass_to_pass=[] if is_file(problem.tests[0]) else neighbours,
        # A fix does not belong in what tests share. If that were editable, an agent would spend its time there.
        readonly=[f"{Pattern.literal(folder).text}/" for folder in sorted(test_folders(project.files))],
        test_patch=problem.test_diff or None,
        timeout_s=limit_of(project, problem),
    )


def limit_of(project: Project, problem: Problem) -> float:
    """Return the seconds that the tests of a problem may take: a change with which they do not end is soon known."""
    return limit_after(problem.seconds, _LEAST_S, project.timeout_s) if problem.seconds else project.timeout_s


def entry_of(project: Project, name: str, test: str, **fields: Any) -> TaskEntry:
    """Make a task of this project with the environment that all its tasks share. `fields`: other fields."""
    environment = project.environment
    return TaskEntry(
        id=name,
        source=SourceEntry(git=str(project.repository), commit=project.commit, subdir=project.subdir),
        test=test,
        setup=list(environment.setup),
        python=PythonEntry(version=environment.python or None, requirements=list(environment.requirements)),
        **fields,
    )
