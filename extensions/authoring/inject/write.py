"""Write a `repo` benchmark of verified bugs: a copy of the project, and a `tasks.yaml` that plants and fixes them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.repo_schema import (
    TASKS_FILE,
    DefaultsEntry,
    LimitsEntry,
    PythonEntry,
    SourceEntry,
    TaskEntry,
    TasksFile,
    id_from,
    write_tasks,
)
from stackrank.env.benchmarks.testfiles import is_doctest
from stackrank.env.environment import Environment
from stackrank.env.patches import find_faults, make_diff
from stackrank.env.sandbox.guest.testing.ids import function_of, path_of
from stackrank.extensions.authoring.inject.candidates import Mutant
from stackrank.extensions.authoring.inject.statement import statement
from stackrank.extensions.authoring.inject.verify import Verified
from stackrank.extensions.authoring.withheld import choose_withheld, without_withheld
from stackrank.patches.contents import like, write_content

SOURCE = "source"


def write_source(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the project in the state in which its tests pass. Replaces an existing copy."""
    target = folder / SOURCE
    if target.exists():
        shutil.rmtree(target)
    for path, content in files.items():
        write_content(target / path, content)


def write_benchmark(
    folder: Path,
    name: str,
    files: Mapping[str, bytes],
    bugs: Sequence[tuple[Mutant, Verified]],
    environment: Environment,
    timeout_s: float,
) -> list[TaskEntry]:
    """Write `tasks.yaml` into `folder`, and return its tasks."""
    tasks = [
        _entry(f"{id_from(name)}-{number:03d}", name, files, candidate, verified, environment)
        for number, (candidate, verified) in enumerate(bugs, start=1)
    ]
    defaults = DefaultsEntry(timeout_s=timeout_s, limits=LimitsEntry())
    content = TasksFile(schema=1, name=f"bugs injected into {name}", defaults=defaults, tasks=tasks)
    write_tasks(folder / TASKS_FILE, content)
    return tasks


def _entry(
    task: str,
    project: str,
    files: Mapping[str, bytes],
    candidate: Mutant,
    verified: Verified,
    environment: Environment,
) -> TaskEntry:
    good = {candidate.file: files[candidate.file]}
    bad = {candidate.file: like(candidate.source(), files[candidate.file])}
    visible = without_withheld(files, withheld := choose_hidden(files, verified))
    complete = {path: files[path] for path in visible}
    fix = make_diff(bad, good)
    visible_failing = [test for test in verified.fail_to_pass if function_of(test) not in withheld]
    shows = {test: verified.messages.get(test, "") for test in visible_failing}
    opening = f"Since the last change of {project}, something is wrong that was right before"
    title, description = statement(opening, shows, candidate.file, find_faults({**files, **bad}, fix))
    return TaskEntry(
        id=task,
        source=SourceEntry(path=SOURCE),
        test=verified.command,
        title=title or task,
        statement=description,
        setup=list(environment.setup),
        python=PythonEntry(version=environment.python or None, requirements=list(environment.requirements)),
        fail_to_pass=list(verified.fail_to_pass),
        pass_to_pass=list(verified.pass_to_pass),
        apply=make_diff({**good, **complete}, {**bad, **visible}),
        test_patch=make_diff(visible, complete) or None,
        hidden_tests=bool(visible),
        shows_bug=True if visible else None,
        fix=fix,
        category=candidate.category,
        difficulty=verified.difficulty,
        tags=["injected", *candidate.operator.split("+")],
    )


def choose_hidden(files: Mapping[str, bytes], verified: Verified) -> tuple[str, ...]:
    """Return half of the test functions that detect a bug; none if there is only one, or if they cannot be cut out."""
    failing, passing = (
        [test for test in tests if not is_doctest(test)] for tests in (verified.fail_to_pass, verified.pass_to_pass)
    )
    tests = (*failing, *passing)
    if not all(path_of(test) in files for test in tests):
        return ()
    try:
        return choose_withheld(files, failing, tests, passing)
    except BenchmarkError:
        return ()
