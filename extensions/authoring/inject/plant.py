"""A `repo` benchmark of bugs planted in a project, from its folder to a `tasks.yaml`."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError, Source
from stackrank.env.benchmarks.files import read_tree
from stackrank.env.benchmarks.git import is_repository, latest_version
from stackrank.env.benchmarks.python_project.compiled import require_python
from stackrank.env.benchmarks.python_project.guess_setup import build_guessed, project_alone, setup_of
from stackrank.env.benchmarks.python_project.pytest_command import TestCommand, project_command
from stackrank.env.benchmarks.repo import NEVER, Repo
from stackrank.env.benchmarks.repo_schema import TASKS_FILE
from stackrank.env.environment import Environment, files_digest
from stackrank.env.patterns import Pattern, globs
from stackrank.env.sandbox.base import Backend, BuildError, SandboxSpec, Say, silent, spec_for
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Task
from stackrank.env.validate import Standing, Validation, try_once
from stackrank.extensions.authoring.inject.candidates import Mutant
from stackrank.extensions.authoring.inject.injection import Injection, InjectionOptions, Tally
from stackrank.extensions.authoring.inject.verify import Verified
from stackrank.extensions.authoring.inject.write import write_benchmark, write_source
from stackrank.host.underway import underway
from stackrank.wording import count_of

# Build output and copies of the source, in which the fix could be found.
_BUILT = globs(("/build/", "/dist/", "*.egg-info/", "*.orig", "*.pyc", "node_modules/"))

_REQUEST = Path("state", "request")
"""Identifies the tasks of an output folder: a call for more of the same may replace them."""
_VERSION = re.compile(r"[\w.-]+==\S+")
"""A line of `pip freeze` that a requirement can be."""
_FOR_BUILDING = ("setuptools==", "wheel==")
"""What an environment may have from the start."""
_FREEZE_S = 60.0
_ROUNDS = 3
"""How often tasks are tried, with other bugs in the place of those that turned out to be of no use."""


@dataclass(frozen=True)
class Planted:
    """The folder that was written, and its bugs."""

    folder: Path
    bugs: list[tuple[Mutant, Verified]]
    with_hidden: int
    """How many of them have hidden tests."""
    left_out: int = 0
    """How many others do not show in the form in which they would be judged."""


def plant(
    path: Path,
    *,
    count: int,
    seed: int,
    out: Path | None,
    test: str | None,
    environment: Environment,
    guess: bool = False,
    timeout_s: float,
    deep: bool = False,
    workers: int,
    backend: Backend,
    say: Say,
    on_tally: Callable[[Tally], None],
) -> Planted:
    """Plant bugs in copies of the project at `path`, and write those that its tests notice as tasks.

    `deep`: write only bugs whose fault is far from the failure (`verify`). `out`: the folder to write, by default
    `PROJECT-bugs`. `test`: the test command; by default it is worked out from the files.
    `guess`: whether to guess from the project's files how it is installed.
    Raises BenchmarkError, SandboxError.
    """
    if not path.is_dir():
        raise BenchmarkError(f"{path} is not a folder: name the project to plant bugs in")
    name = path.resolve().name
    folder = (out or Path(f"{name}-bugs")).absolute()
    is_inside = folder.resolve().is_relative_to(path.resolve())
    hidden = [Pattern.literal(folder.resolve().relative_to(path.resolve()).as_posix())] if is_inside else []
    files = read_tree(path, [*NEVER, *_BUILT, *hidden])
    require_python(name, files)
    version = functools.partial(latest_version, path, "HEAD") if is_repository(path) else str
    if guess and (setup := setup_of(files, version)):
        say(f"{name}: installed with `{setup[0]}`, guessed from its files; --setup overrides it ('' installs nothing)")
        environment = replace(environment, setup=tuple(setup))
    command = project_command(test, files)
    request = _request_digest(files, command, seed, deep)
    if (folder / TASKS_FILE).exists() and not _is_same_request(folder, request):
        raise BenchmarkError(
            f"{folder} already has tasks of another project, version, seed or kind: name another folder with --out"
        )
    if guess and environment.setup:
        environment = _pinned(environment, files, backend, say)
    options = InjectionOptions(count, seed, command, environment, workers, timeout_s, deep)
    injection = Injection(backend, files, options, folder)
    try:
        injection.prepare(say)
        activity = f"{name}: running its tests to measure what they reach (at most {20 * timeout_s:g} s)"
        with underway(activity, say):
            reach = injection.reach()
        say(
            f"{name}: {count_of(len(reach.tests), 'test reaches', 'tests reach')} "
            f"{count_of(sum(map(len, reach.lines.values())), 'line')}"
        )
        bugs = injection.bugs(reach, on_tally)
    except BenchmarkError as error:
        raise BenchmarkError(f"{path}: {error}") from None
    if not bugs:
        tried = "deep bugs" if deep else "bugs"
        raise BenchmarkError(f"{path}: its tests detect none of the {tried} that were tried")
    (folder / _REQUEST).write_text(request)
    write_source(folder, files)
    useless, judged = set[str](), set[str]()
    for rounds_left in reversed(range(_ROUNDS)):
        tasks = write_benchmark(folder, name, files, bugs, environment, timeout_s)
        keys = {task.id: mutant.key for task, (mutant, _) in zip(tasks, bugs, strict=True)}
        refused = _try_tasks(folder, {task for task, key in keys.items() if key not in judged}, backend, workers)
        if not refused:
            break
        for task, reason in refused.items():
            say(f"{task} is left out: {reason}")
        useless.update(keys[task] for task in refused)
        judged.update(keys.values())
        others = [bug for bug in bugs if bug[0].key not in useless]
        bugs = injection.bugs(reach, on_tally, useless) if rounds_left else others
        if not bugs:
            raise BenchmarkError(f"{path}: no bug shows in the form in which it would be judged ({reason})")
    else:
        tasks = write_benchmark(folder, name, files, bugs, environment, timeout_s)
    return Planted(folder, bugs, sum(task.hidden_tests for task in tasks), len(useless))


def _try_tasks(folder: Path, ids: Collection[str], backend: Backend, workers: int) -> dict[str, str]:
    """Try each of these tasks once, in the form in which it will be judged. Returns those of no use: id -> why.

    Raises SandboxError.
    """

    def attempt(task: Task) -> Validation:
        if task.environment is not None:
            backend.prepare(spec_for(task), silent)
        return try_once(task, lambda spec: Sandbox(backend, spec))

    with ThreadPoolExecutor(max_workers=workers) as threads:
        tasks = [task for task in Repo(Source(folder)).tasks() if task.id in ids]
        results = list(threads.map(attempt, tasks))
    return {result.task: result.reason for result in results if result.standing is Standing.INVALID}


def _pinned(environment: Environment, files: Mapping[str, bytes], backend: Backend, say: Say) -> Environment:
    """Return an environment with the packages that a guessed one has now, in these versions.

    Tasks share the packages, so each of them installs only the project itself. Returns the guessed environment if pip
    reports no versions, or cannot install them. Raises BenchmarkError if the guessed one cannot be built, SandboxError.
    """
    spec = SandboxSpec(environment=environment.with_source(files))
    build_guessed(backend, spec, say)
    versions = list_versions(backend, spec)
    if all(version.startswith(_FOR_BUILDING) for version in versions) or not all(map(_VERSION.fullmatch, versions)):
        return environment
    alone = project_alone(environment.setup[0])
    pinned = replace(environment, requirements=tuple(versions), setup=(alone,) if alone else ())
    try:
        backend.prepare(SandboxSpec(environment=pinned.with_source(files)), say)
    except BuildError as error:
        say(f"its packages cannot be pinned, so each task installs them anew: {error}")
        return environment
    return pinned


def list_versions(backend: Backend, spec: SandboxSpec) -> list[str]:
    """Return the packages of an environment with their versions, as pip lists them. Raises SandboxError."""
    with Sandbox(backend, spec) as sandbox:
        # Without --all, pip leaves out setuptools and wheel before Python 3.12, which tests may need.
        frozen = sandbox.run("python -m pip freeze -q --all --exclude pip --exclude-editable", _FREEZE_S)
    return frozen.output.split("\n")[:-1] if not frozen.exit else []


def _request_digest(files: Mapping[str, bytes], command: TestCommand, seed: int, deep: bool) -> str:
    identity = (files_digest(files), command, seed, deep)
    return hashlib.sha256(repr(identity).encode("utf-8", "backslashreplace")).hexdigest()


def _is_same_request(folder: Path, request: str) -> bool:
    file = folder / _REQUEST
    return file.is_file() and file.read_text() == request
