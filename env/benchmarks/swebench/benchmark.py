"""`swebench`: real bugs of real repositories, in SWE-bench's format (https://www.swebench.com).

Agents get the repository as it was at the base commit, without history, and the issue's text; hints are never shown.
`swebench` keeps the test patch for the verdict, `swebench-debug` applies it from the start. The rows of SWE-smith,
R2E-Gym, SWE-rebench and SWE-bench Pro are read as they are published (`swebench_layouts`).
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from stackrank.env.benchmarks.base import BenchmarkError, Source, TaskByTask, is_hub_name, own_name
from stackrank.env.benchmarks.git import CommitFiles, find_repository, has_commit, read_at
from stackrank.env.benchmarks.swebench.environments import Overrides, environment_of, test_command
from stackrank.env.benchmarks.swebench.instances import Instance, read_instances
from stackrank.env.benchmarks.testfiles import visible_command, words
from stackrank.env.corrections import corrected
from stackrank.env.patches import PatchError, apply_patch, find_faults, touched_files
from stackrank.env.patterns import Pattern
from stackrank.env.sandbox.guest.testing.ids import function_of, path_of
from stackrank.env.scoring.by_fault.parts import with_faults
from stackrank.env.scoring.log_formats import format_for
from stackrank.env.task import Fault, Limits, Task

LIMITS = Limits(timeout_s=600, memory_mb=2048, pids=512, cpus=1.0, disk_mb=512)
DIFFICULTY = {"<15 min fix": "easy", "15 min - 1 hour": "medium", "1-4 hours": "hard", ">4 hours": "hard"}


class SweBench(TaskByTask):
    """Instances whose tests are hidden until the verdict."""

    name = family = "swebench"
    license = "as the repositories"
    tests_shown = False

    def __init__(self, source: Source) -> None:
        """`source.path`: instances; `source.repos`, `source.environments`. Raises BenchmarkError."""
        if source.path is None:
            raise BenchmarkError(
                f"{self.name} needs --path: instances as JSON, JSONL or Parquet, or a data set of the hub (owner/name)"
            )
        if source.repos is not None and not source.repos.is_dir():
            raise BenchmarkError(f"--repos {source.repos} is not a folder")
        self._path, self._repos = source.path, source.repos
        self._overrides = Overrides(source.environments)
        self.source = source.path.name
        # The name of a data set of the hub includes its owner.
        data = str(source.path) if is_hub_name(str(source.path)) else _without_ending(source.path)
        self.name = own_name(self.family, data)

    def _entries(self) -> Iterator[tuple[str, Callable[[], Task] | str]]:
        rows = read_instances(self._path)
        self.notes = tuple(
            f"columns that nothing reads ({layout}): {', '.join(sorted(columns))}"
            for layout, columns in rows.unknown.items()
        )
        yield from rows.problems.items()
        for instance in rows.instances:
            yield instance.instance_id, functools.partial(self._load, instance)

    def _load(self, instance: Instance) -> Task:
        repository = self._repository(instance)
        override = self._overrides.find(instance)
        commit, tests_shown = instance.base_commit, self.tests_shown
        tests = _Tests(instance, repository)
        planted = _apply(instance, repository, "planted")
        changed = {**planted, **(tests.changed if tests_shown else {})}
        faults: tuple[Fault, ...] = ()
        files = CommitFiles(
            repository,
            commit,
            changed=changed or None,
            changed_digest=instance.planted + (instance.test_patch if tests_shown else ""),
        )
        if repository is not None:
            faults = _faults(instance, repository, changed)
        command = test_command(instance, override, tests.names)
        existing = tests.there(command)
        visible = command
        if repository is not None and not tests_shown and len(existing) < len(_paths(command)):
            visible = visible_command(command, files, {})
        hidden = _Hidden({path: content for path, content in tests.changed.items() if content is not None})
        hidden.digest = instance.test_patch
        source = CommitFiles(repository, commit, changed=planted or None, changed_digest=instance.planted)
        environment = environment_of(instance, override).with_source(source)
        shows_bug = tests_shown or not instance.test_patch
        statement = instance.problem_statement
        if not statement.strip():
            if not shows_bug:
                raise BenchmarkError(
                    "it has no problem statement, and its tests are hidden: use the benchmark swebench-debug"
                )
            statement = "Some of its tests fail: find out why, and fix the program."
        task = Task(
            id=instance.instance_id,
            benchmark=self.family,
            title=statement.strip().partition("\n")[0][:100],
            statement=statement,
            files=files,
            test_command=visible,
            score_command=command if command != visible else None,
            log_format=format_for(instance.repo, instance.log_parser or "", command),
            category=instance.repo,
            difficulty=DIFFICULTY.get(instance.difficulty or "", ""),
            fail_to_pass=tuple(instance.fail_to_pass),
            pass_to_pass=tuple(instance.pass_to_pass),
            hidden_files={} if tests_shown else hidden,
            fix=instance.patch,
            faults=faults,
            readonly=tuple(map(Pattern.literal, sorted({*tests.touched, *existing}))),
            environment=environment,
            shows_bug=shows_bug,
            lists_from_elsewhere=True,
            limits=LIMITS,
        )
        return corrected(with_faults(task, _by_function(task.fail_to_pass)))

    def _repository(self, instance: Instance) -> Path | None:
        if self._repos is None:
            return None
        repository = find_repository(self._repos, instance.repo)
        if repository is None:
            raise BenchmarkError(f"{self._repos} has no clone of {instance.repo}: add one")
        if not has_commit(repository, instance.base_commit):
            raise BenchmarkError(f"{repository} has no commit {instance.base_commit[:12]} of {instance.repo}: fetch it")
        return repository


class SweBenchDebug(SweBench):
    """The same instances with the tests in the workspace from the start, read-only."""

    name = family = "swebench-debug"
    tests_shown = True


def _without_ending(path: Path) -> str:
    return path.stem if path.suffix in (".json", ".jsonl", ".parquet") else path.name


class _Hidden(dict[str, bytes]):
    """Files whose digest is known without reading them: it is the patch that makes them."""

    digest: str


class _Tests:
    """What the test patch of an instance changes."""

    def __init__(self, instance: Instance, repository: Path | None) -> None:
        self._instance, self._repository = instance, repository
        self.changed = _apply(instance, repository, "test_patch")
        self.touched = _touched(instance, "test_patch")

    @property
    def names(self) -> list[str]:
        """The test files to run: those that the instance names, or those that exist after the patch."""
        if self._instance.test_files:
            return self._instance.test_files
        paths = [
            path for path in sorted(self.touched) if path.endswith(".py") and self.changed.get(path, b"") is not None
        ]
        test_paths = [
            path for path in paths if PurePosixPath(path).name.startswith("test") or path.endswith("_test.py")
        ]
        return test_paths or paths

    def there(self, command: str) -> list[str]:
        """Return the files that a command names and the base commit has; all of them if that is not known."""
        if self._repository is None:
            return _paths(command)
        return list(read_at(self._repository, self._instance.base_commit, _paths(command)))


def _paths(command: str) -> list[str]:
    return [path_of(word) for word in words(command)[1:] if path_of(word).endswith(".py")]


def _touched(instance: Instance, field: str) -> set[str]:
    try:
        return touched_files(getattr(instance, field))
    except PatchError as error:
        raise BenchmarkError(f"{field}: {error}") from None


def _apply(instance: Instance, repository: Path | None, field: str) -> dict[str, bytes | None]:
    """Return the files that a patch touches, as it leaves them, None for a deleted one; empty without a repository."""
    touched = _touched(instance, field)
    if repository is None or not touched:
        return {}
    try:
        files = apply_patch(read_at(repository, instance.base_commit, touched), getattr(instance, field))
    except PatchError as error:
        raise BenchmarkError(f"{field}: {error}") from None
    return {path: files.get(path) for path in touched}


def _faults(instance: Instance, repository: Path, changed: Mapping[str, bytes | None]) -> tuple[Fault, ...]:
    """Return where the known fix touches what the agent sees. Raises BenchmarkError if it does not apply."""
    touched = _touched(instance, "patch")
    files = {**read_at(repository, instance.base_commit, touched - changed.keys())}
    files |= {path: content for path, content in changed.items() if path in touched and content is not None}
    try:
        apply_patch(files, instance.patch)
        return find_faults(files, instance.patch)
    except PatchError as error:
        raise BenchmarkError(f"patch: {error}") from None


def _by_function(tests: Iterable[str]) -> dict[str, list[str]]:
    """Return tests by their function: each function that fails because of the bug shows a part of it."""
    groups: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        groups[function_of(test)].append(test)
    return groups
