"""`repo`: a user's own bugs, described in a `tasks.yaml` (see `env.benchmarks.repo_schema`)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError, Source, TaskByTask, own_name
from stackrank.env.benchmarks.files import read_patch, read_tree
from stackrank.env.benchmarks.git import CommitFiles, open_repository, resolve_commit
from stackrank.env.benchmarks.repo_lists import write_lists
from stackrank.env.benchmarks.repo_schema import DefaultsEntry, TaskEntry, TasksFile, is_diff, read_tasks
from stackrank.env.benchmarks.testfiles import (
    check_command,
    find_unrun,
    is_below,
    is_test,
    paths_named,
    test_files,
    visible_command,
    with_doctests,
)
from stackrank.env.difficulty import save_difficulty
from stackrank.env.environment import Environment
from stackrank.env.patches import PatchError, apply_patch, find_faults, make_diff, portable_patch, touched_files
from stackrank.env.patterns import Matcher, Pattern, globs
from stackrank.env.scoring.by_fault.parts import with_faults
from stackrank.env.scoring.log_formats import log_formats
from stackrank.env.scoring.proof import save_proof
from stackrank.env.task import Limits, Task
from stackrank.env.validate import Validation

NAMES = ("tasks.yaml", "tasks.yml", "tasks.json")
# Never part of a task: history, and files that tools leave behind.
NEVER = globs(
    (".git", ".hg", ".venv/", "venv/", "__pycache__/", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".tox/")
)


class Repo(TaskByTask):
    """The tasks of one file."""

    license = ""

    def __init__(self, source: Source) -> None:
        """`source.path`: the file, or its folder. Raises BenchmarkError."""
        if source.path is None:
            raise BenchmarkError("repo needs --path: a tasks.yaml, or its folder")
        places = [source.path / name for name in NAMES] if source.path.is_dir() else [source.path]
        file = next((place for place in places if place.is_file()), None)
        if file is None:
            raise BenchmarkError(f"there is no {' or '.join(map(str, places))}")
        self._file = file.absolute()
        self._content, self._problems = read_tasks(file)
        self.license = self._content.license
        self.source = self._content.name or file.parent.absolute().name
        self.name = own_name("repo", self.source)

    def to_record(self, task: Task) -> Task:
        """Return the task as it is: the lists that its author wrote say what decides."""
        return task

    def record(self, validations: Sequence[Validation]) -> None:
        """Write the lists of tests, and of their proofs, of tasks that have none. Comments in the file stay."""
        unlisted = {entry.id for entry in self._content.tasks if not (entry.fail_to_pass or entry.pass_to_pass)}
        recorded = {
            validation.task: validation
            for validation in validations
            # A command that is not pytest counts as one test, and there is nothing to list.
            if validation.task in unlisted and all("::" in test for test in validation.fail_to_pass)
        }
        lists = {
            name: {"fail_to_pass": validation.fail_to_pass, "pass_to_pass": validation.pass_to_pass}
            for name, validation in recorded.items()
        }
        write_lists(self._file, lists)
        for task in Repo(Source(self._file)).tasks():  # the lists are part of the digest
            if (validation := recorded.get(task.id)) is None:
                continue
            if validation.proof is not None:
                save_proof(task, replace(validation.proof, digest=task.digest))
            if validation.measured is not None:
                save_difficulty(task, validation.measured)

    def _entries(self) -> Iterator[tuple[str, Callable[[], Task] | str]]:
        yield from self._problems.items()
        for entry in self._content.tasks:
            yield entry.id, functools.partial(load_task, entry, self._content, self._file)


def load_task(entry: TaskEntry, content: TasksFile, file: Path) -> Task:
    """Load one task. Raises BenchmarkError."""
    folder = file.parent
    try:
        files = _plant(_source(entry, content, file), _diff(entry.apply, folder), entry)
        tests = _apply(files, _diff(entry.test_patch, folder), "test_patch")
        secret = {path: files[path] for path in _matching(files, globs(entry.hidden))}
        if entry.hidden_tests:
            secret |= {path: content_bytes for path, content_bytes in tests.items() if content_bytes is not None}
        else:
            secret |= {path: content_bytes for path in secret if (content_bytes := tests.get(path)) is not None}
            files = _with(files, {path: content_bytes for path, content_bytes in tests.items() if path not in secret})
        files = _without(files, globs(entry.hidden))
        fix = _diff(entry.fix, folder) or (_reverse_bug(entry, content, file) if entry.apply else "")
        _apply(files, fix, "fix")
        touched = touched_files(fix) if fix else set()
        fix = portable_patch(_read(files, touched), fix)
        faults = find_faults(_read(files, touched), fix) if fix else ()
    except (PatchError, OSError, ValueError) as error:
        raise BenchmarkError(str(error)) from None
    visible = visible_command(check_command(entry.test), files, secret)
    ids = (*entry.fail_to_pass, *entry.pass_to_pass)
    # If no fix is known, the fault may be in a file whose own doctests fail.
    to_edit = touched or (set() if fix else with_doctests(ids))
    readonly = (*globs(entry.readonly), *test_files(entry.test, ids, {*files, *secret}), *map(Pattern.literal, tests))
    if unrun := find_unrun(entry.test, ids, {*files, *secret}):
        raise BenchmarkError(f"test: `{entry.test}` does not run {unrun[0]}, which fail_to_pass or pass_to_pass lists")
    shows_bug = visible == entry.test and not _is_judged(secret, entry.test, {*files, *secret})
    if entry.results not in ("", *log_formats()):
        raise BenchmarkError(f"results: there is no format {entry.results}: choose {', '.join(log_formats())}")
    if entry.shows_bug and not visible:
        raise BenchmarkError(f"shows_bug: every test that `{entry.test}` runs is hidden")
    task = Task(
        id=entry.id,
        benchmark="repo",
        title=entry.title or entry.statement.strip().partition("\n")[0][:80],
        statement=entry.statement,
        files=files,
        test_command=visible,
        score_command=entry.test if entry.test != visible else None,
        category=entry.category,
        difficulty=entry.difficulty,
        tags=tuple(entry.tags),
        fail_to_pass=tuple(entry.fail_to_pass),
        pass_to_pass=tuple(entry.pass_to_pass),
        hidden_files=secret,
        fix=fix,
        faults=faults,
        readonly=tuple(pattern for pattern in readonly if not any(map(pattern.is_literal, to_edit))),
        editable=globs(entry.editable),
        log_format=entry.results,
        toolchain=entry.toolchain,
        image=entry.image or content.defaults.image,
        environment=_environment(entry, files),
        status_decides=entry.status_decides,
        shows_bug=shows_bug if entry.shows_bug is None else entry.shows_bug,
        limits=_limits(entry, content.defaults),
    )
    return with_faults(task, _faults(entry))


def _faults(entry: TaskEntry) -> dict[str, list[str]]:
    """Return the tests of each fault that a task names. Raises BenchmarkError if they are not those that must pass."""
    shown = [test for tests in entry.faults.values() for test in tests]
    if entry.faults and (len(entry.faults) < 2 or sorted(shown) != sorted(set(entry.fail_to_pass))):
        raise BenchmarkError("faults: name at least two, and every test of fail_to_pass for exactly one of them")
    return entry.faults


def _is_judged(secret: Mapping[str, bytes], command: str, files: Collection[str]) -> bool:
    """Whether a command runs hidden tests."""
    places = paths_named(command, files) or ["."]
    return any(is_below(path, place) for path in filter(is_test, secret) for place in places)


def _source(entry: TaskEntry, content: TasksFile, file: Path) -> Mapping[str, bytes]:
    """Return the files of the source, without `file` itself and the patches that it names."""
    source = entry.source
    if source.git is not None and source.commit is not None:
        repository = open_repository(source.git, source.commit, file.parent)
        commit = resolve_commit(repository, source.commit)
        files: Mapping[str, bytes] = CommitFiles(repository, commit, subdir=source.subdir)
    else:
        folder = (file.parent / (source.path or ".")).resolve()
        if not folder.is_relative_to(file.parent.resolve()):
            raise BenchmarkError(f"source.path {source.path} leaves {file.parent}")
        if not folder.is_dir():
            raise BenchmarkError(f"source.path: {folder} is not a folder")
        secret = [file, *(file.parent / name for name in _patch_files(content))]
        inside = [path.resolve() for path in secret if path.resolve().is_relative_to(folder)]
        patterns = [Pattern.literal(path.relative_to(folder).as_posix()) for path in inside]
        if file.parent.resolve() == folder:  # patches of future tasks, or of other tasks
            patterns += globs(("/*.patch", "/*.diff"))
        files = read_tree(folder, [*NEVER, *patterns])
    if not files:
        raise BenchmarkError("its source has no files")
    return files


def _patch_files(content: TasksFile) -> set[str]:
    values = [value for task in content.tasks for value in (task.apply, task.test_patch, task.fix)]
    return {value for value in values if value is not None and not is_diff(value)}


def _diff(value: str | None, folder: Path) -> str:
    if value is None or is_diff(value):
        return value or ""
    place = (folder / value).resolve()
    if not place.is_relative_to(folder.resolve()):
        raise BenchmarkError(f"{value} leaves {folder}")
    if not place.is_file():
        raise BenchmarkError(f"there is no patch {place}")
    return read_patch(place, inside=folder)


def _apply(files: Mapping[str, bytes], diff: str, field: str) -> dict[str, bytes | None]:
    """Return what a diff changes: path -> new content, or None for a file that is deleted."""
    if not diff.strip():
        return {}
    try:
        touched = touched_files(diff)
        old = _read(files, touched)
        new = apply_patch(old, diff)
    except PatchError as error:
        raise BenchmarkError(f"{field}: {error}") from None
    if not touched:
        raise BenchmarkError(f"{field}: it is not a unified diff")
    return {path: new.get(path) for path in sorted(touched) if new.get(path) != old.get(path)}


def _plant(files: Mapping[str, bytes], diff: str, entry: TaskEntry) -> Mapping[str, bytes]:
    return _with(files, _apply(files, diff, "apply"))


def _reverse_bug(entry: TaskEntry, content: TasksFile, file: Path) -> str:
    """Return the diff that undoes the planted bug."""
    source, diff = _source(entry, content, file), _diff(entry.apply, file.parent)
    changed = _apply(source, diff, "apply")
    old = _read(source, changed)
    return make_diff({path: content_bytes for path, content_bytes in changed.items() if content_bytes is not None}, old)


def _read(files: Mapping[str, bytes], paths: Sequence[str] | set[str] | dict[str, bytes | None]) -> dict[str, bytes]:
    if isinstance(files, CommitFiles):
        return files.read(paths)
    return {path: files[path] for path in paths if path in files}


def _with(files: Mapping[str, bytes], changed: Mapping[str, bytes | None]) -> Mapping[str, bytes]:
    if isinstance(files, CommitFiles):
        return files.with_changes(changed)
    return {path: content for path, content in {**files, **changed}.items() if content is not None}


def _without(files: Mapping[str, bytes], patterns: Sequence[Pattern]) -> Mapping[str, bytes]:
    hidden = set(_matching(files, patterns))
    if not hidden:
        return files
    if isinstance(files, CommitFiles):
        return files.with_changes({}, tuple(patterns))
    return {path: content for path, content in files.items() if path not in hidden}


def _matching(files: Mapping[str, bytes], patterns: Sequence[Pattern]) -> list[str]:
    return Matcher(patterns).select(files) if patterns else []


def _environment(entry: TaskEntry, files: Mapping[str, bytes]) -> Environment | None:
    python = entry.python
    if not (entry.setup or python.requirements or python.version):
        return None
    environment = Environment(python.version or "", tuple(python.requirements), tuple(entry.setup))
    return environment.with_source(files)


def _limits(entry: TaskEntry, defaults: DefaultsEntry) -> Limits:
    limits = (entry.limits or defaults.limits).model_dump()
    fields = {name: value for name, value in limits.items() if name in asdict(Limits())}
    return Limits(timeout_s=entry.timeout_s or defaults.timeout_s, **fields)
