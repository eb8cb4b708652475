"""The open problems of a project, as tasks without a known answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.from_commit import TASKS
from stackrank.env.benchmarks.repo_schema import (
    DefaultsEntry,
    PythonEntry,
    SourceEntry,
    TaskEntry,
    TasksFile,
    id_from,
    write_tasks,
)
from stackrank.env.benchmarks.testfiles import is_test, test_folders
from stackrank.env.difficulty.formulas import ochiai
from stackrank.env.difficulty.spectrum import AT_IMPORT, Place, Spectrum, Unmeasured, measure_suite
from stackrank.env.patches import enclosing
from stackrank.env.sandbox.base import Backend, Say
from stackrank.env.sandbox.client import Sandbox
from stackrank.flows.runs.fix.project import Project
from stackrank.flows.runs.fix.suite import Suite

MEASURED_TIMES = 3
"""How many times longer than the suite may take it may take while it is measured."""


@dataclass(frozen=True)
class Problem:
    """What is to be mended: tests that fail together, or an issue."""

    name: str
    title: str
    statement: str
    tests: tuple[str, ...]
    before: Suite
    """The suite as it is, with the test that stands for an issue."""
    test_diff: str = ""
    """Adds the test that stands for an issue."""
    parts: tuple[tuple[str, ...], ...] = ()
    """The tests in smaller groups, where they are together only because the same lines are the most suspicious."""


def find_problems(project: Project, suite: Suite, backend: Backend, say: Say) -> list[Problem]:
    """The failing tests, those together that seem to have one cause.

    Tests that fail in one function of the program are a group; of the others those of one function of the tests, as
    far as they run one function of the program, the one that fewest tests run. Groups for which the same lines are the
    most suspicious are one problem. Files that cannot be imported for the same reason are one, too.

    Raises BenchmarkError where no test of the suite passes: then nothing could tell a fix from damage, but for files
    that cannot be imported, whose tests tell it.
    """
    if not suite.passing and not any(map(is_file, suite.failing)):
        why = next(iter((*suite.failing.values(), *suite.unread, *suite.flaky)), "none is found")
        raise BenchmarkError(
            f"no test of {project.name} passes ({why[:200]}), so a fix cannot be told from damage: install the project "
            "with --setup and --require, or name its test command with --test"
        )
    if not suite.failing:
        return []
    spectrum = _spectrum(project, backend, say)
    groups: dict[tuple[str, ...], list[str]] = {}
    for test in sorted(suite.failing):
        place = spectrum and _place(project.files, spectrum.failures.get(test, ()))
        if is_file(test):
            key: tuple[str, ...] = ("", suite.failing[test])
        else:
            key = (place,) if place else (test.partition("[")[0], _own_function(project.files, spectrum, test))
        groups.setdefault(key, []).append(test)
    together: dict[object, list[tuple[str, ...]]] = {}
    for name, tests in groups.items():
        together.setdefault(_suspects(spectrum, tests) or name, []).append(tuple(tests))
    problems: list[Problem] = []
    for parts in together.values():
        tests = sorted(test for part in parts for test in part)
        problems.append(_problem(suite, tests, tuple(parts) if len(parts) > 1 else (), problems))
    return problems


def is_file(test: str) -> bool:
    """Whether this is no test but a file of tests, one that cannot be imported."""
    return "::" not in test


def split_up(
    problems: Sequence[Problem], several: Mapping[str, Sequence[Collection[str]]], mended: Collection[str]
) -> list[Problem]:
    """The parts of problems that have more than one cause after all, as problems; those parts are one that the same
    episodes mended, where they did not mend some of each.

    `several`: the name of such a problem -> what each episode left that mended some of it; `mended`: tests that some
    proposal mends.
    """
    found: list[Problem] = []
    for each in problems:
        groups: dict[tuple[bool, ...], list[str]] = {}
        for part in each.parts if each.name in several else ():
            groups.setdefault(tuple(bool({*part} & {*left}) for left in several[each.name]), []).extend(part)
        for tests in groups.values() if len(groups) > 1 else (each.parts if groups else ()):
            if not {*tests} <= {*mended}:
                found.append(_problem(each.before, tests, (), [*problems, *found]))
    return found


def hidden(problem: Problem, why: str, mended: Collection[str]) -> str:
    """Why a problem has no proposal: `why`, and that other bugs hide one, where proposals mend some of its tests."""
    some = len({*problem.tests} & {*mended})
    rest = (
        f"; proposals mend {some} of its {len(problem.tests)} tests: once they are in, `stackrank fix` shows the rest"
    )
    return why + rest * bool(some)


def _problem(
    suite: Suite, tests: Sequence[str], parts: tuple[tuple[str, ...], ...], others: Sequence[Problem]
) -> Problem:
    listed = "\n".join(f"- {test}: {suite.failing[test]}".rstrip(": ") for test in tests)
    if is_file(tests[0]):
        opening = "These files of tests cannot be imported. All of their tests have to pass"
    else:
        opening = f"{'This test fails and has' if len(tests) == 1 else 'These tests fail and have'} to pass"
    name = unique(id_from(tests[0].replace(".py::", ".").replace("::", ".").replace("/", ".")), others)
    return Problem(name, title_of(tests), f"{opening}:\n{listed}\n", tuple(tests), suite, parts=parts)


def title_of(tests: Sequence[str]) -> str:
    """What a problem is called that these tests show."""
    what = "cannot be imported" if is_file(tests[0]) else "fails"
    return f"{tests[0]} {what}" + (f", and {len(tests) - 1} more" if len(tests) > 1 else "")


def unique(name: str, others: Sequence[Problem]) -> str:
    """The name, with a number where another problem has it."""
    taken = {each.name for each in others}
    short = name[:80].rstrip("-.")
    return next(each for each in (short, *(f"{short}-{n}" for n in range(2, len(taken) + 3))) if each not in taken)


def measured(project: Project, backend: Backend, files: Mapping[str, bytes], only: Sequence[str] = ()) -> Spectrum:
    """Which lines the suite, or `only` these tests of it, runs on these files. Raises Unmeasured, SandboxError."""
    command = project.command.on(only or project.command.targets, "--continue-on-collection-errors")
    with Sandbox(backend, project.spec) as sandbox:
        return measure_suite(sandbox, files, command, project.timeout_s * MEASURED_TIMES)


def _spectrum(project: Project, backend: Backend, say: Say) -> Spectrum | None:
    try:
        return measured(project, backend, project.files)
    except Unmeasured as error:
        say(f"{project.name}: tests that fail for one reason cannot be told, so each is a problem of its own ({error})")
        return None


def _suspects(spectrum: Spectrum | None, tests: Sequence[str]) -> frozenset[int]:
    """The groups of lines that all these tests run and that are the most suspicious; none where nothing is known."""
    if spectrum is None or not {*tests} <= {*spectrum.tests}:
        return frozenset()
    wanted = {spectrum.tests.index(test) for test in tests}
    used = {group for lines in spectrum.lines.values() for group in lines.values()}
    scores = {
        n: ochiai(spectrum.by_group[n])
        for n in used
        if wanted <= spectrum.groups[n] and AT_IMPORT not in spectrum.groups[n]
    }
    most = max(scores.values(), default=0.0)
    return frozenset(n for n, score in scores.items() if score == most)


def _own_function(files: Mapping[str, bytes], spectrum: Spectrum | None, test: str) -> str:
    """The function of the program that fewest other tests run; empty where nothing is known of the test."""
    if spectrum is None or test not in spectrum.tests:
        return ""
    size = [len(group) for group in spectrum.groups]
    found = spectrum.run_by(test)
    file, line = min(found, key=lambda place: (size[spectrum.lines[place[0]][place[1]]], place), default=("", 0))
    return f"{file}:{next(iter(enclosing(files[file], [line])), '')}" if file else ""


def _place(files: Mapping[str, bytes], frames: Sequence[Place]) -> str:
    """The innermost function of the program in a traceback; empty where it has none."""
    for file, line in reversed(frames):
        if not is_test(file):
            return f"{file}:{next(iter(enclosing(files[file], [line])), '')}"
    return ""


def write_problems(project: Project, problems: Sequence[Problem], out: Path) -> Path:
    """Write the problems as tasks into the folder `out`, and return the file."""
    return write_entries(project, [_entry(project, each) for each in problems], out)


def write_entries(project: Project, tasks: list[TaskEntry], out: Path) -> Path:
    """Write tasks of a project into the folder `out`, and return the file."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / TASKS
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", project.name)
    content = TasksFile(schema=1, name=f"fix-{name}", defaults=DefaultsEntry(timeout_s=project.timeout_s), tasks=tasks)
    write_tasks(file, content)
    return file


def _entry(project: Project, problem: Problem) -> TaskEntry:
    """The task: its tests and those of the same files that pass; what fails for other reasons is left out.

    Nobody knows the tests of a file that cannot be imported: such a task has no lists, and then all have to pass.
    """
    suite = problem.before
    files = sorted({test.partition("::")[0] for test in problem.tests})
    near = sorted(test for test in suite.passing if test.partition("::")[0] in files)
    others = {*suite.failing, *suite.flaky, *suite.outside} - set(problem.tests)
    # pytest deselects whatever begins so, and `test_x` begins as `test_x_again` does.
    counted = (*problem.tests, *near)
    beside = sorted(
        test
        for test in others
        if test.partition("::")[0] in files and not any(each.startswith(test) for each in counted)
    )
    return entry_of(
        project,
        problem.name,
        project.command.on(files, *(word for test in beside for word in ("--deselect", test))),
        title=problem.title,
        statement=problem.statement,
        fail_to_pass=[] if is_file(problem.tests[0]) else list(problem.tests),
        pass_to_pass=[] if is_file(problem.tests[0]) else near,
        # What tests share is no place for a fix; left open, an agent would spend its time there.
        readonly=[f"/{folder}/" for folder in sorted(test_folders(project.files))],
        test_patch=problem.test_diff or None,
    )


def entry_of(project: Project, name: str, test: str, **more: Any) -> TaskEntry:
    """A task of this project, built as all of its tasks are; `more`: other fields."""
    environment = project.environment
    return TaskEntry(
        id=name,
        source=SourceEntry(git=str(project.repository), commit=project.commit),
        test=test,
        setup=list(environment.setup),
        python=PythonEntry(version=environment.python or None, requirements=list(environment.requirements)),
        **more,
    )
