"""The repository to be fixed. It is read from its newest commit, and never written to."""

from __future__ import annotations

import functools
import hashlib
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.git import LFS_POINTER, CommitFiles, is_repository, read_at, resolve_commit
from stackrank.env.benchmarks.python_project.compiled import require_python
from stackrank.env.benchmarks.python_project.guess_setup import declared_requirements, guess_setup
from stackrank.env.benchmarks.python_project.pytest_command import TestCommand, project_command
from stackrank.env.benchmarks.testfiles import is_test, shell_command
from stackrank.env.environment import Environment
from stackrank.env.git import changed_files, enclosing_repository, is_bare, read_git
from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.guest.testing.commands import pytest_run
from stackrank.env.sandbox.guest.testing.ids import path_of
from stackrank.env.task import Limits
from stackrank.patches.reading import SUBMODULE, Patch

CONFTEST = "conftest.py"

_OWN_LOADER = re.compile(rb"^def (?:load_tests|test_suite)\(", re.MULTILINE)


@dataclass(frozen=True)
class TestOptions:
    """How the user wants the project's tests to be run. Empty values are determined automatically."""

    __test__ = False

    test: str = ""
    setup: tuple[str, ...] | None = None
    """None: the commands that install the project, if it can be installed."""
    requirements: tuple[str, ...] = ()
    python: str = ""
    timeout_s: float = 300.0
    """Seconds the whole suite may take."""
    repeat: int = 3
    """How often the suite runs, to tell flaky tests from failing ones."""


@dataclass(frozen=True)
class Project:
    """A commit of a repository, and how its tests are run."""

    repository: Path
    commit: str
    files: Mapping[str, bytes]
    command: TestCommand
    environment: Environment
    timeout_s: float
    subdir: str = "."
    """The folder of the repository that is the project. Paths of `files` are relative to it."""

    @property
    def name(self) -> str:
        """The project's name for people."""
        name = self.repository.name.removesuffix(".git")
        return name if self.subdir == "." else f"{name}/{self.subdir}"

    @functools.cached_property
    def submodules(self) -> list[str]:
        """The folders of submodules in the project. Their files are in no commit of the repository."""
        tree = self.commit if self.subdir == "." else f"{self.commit}:{self.subdir}"
        entries = read_git(self.repository, "ls-tree", "-r", "-z", tree).decode("utf-8", "replace").split("\0")
        return [entry.partition("\t")[2] for entry in entries if entry.startswith(f"{SUBMODULE} ")]

    def in_repository(self, patch: str) -> str:
        """Return a patch of the project's files with paths relative to the repository."""
        return patch if self.subdir == "." else Patch.read(patch).renamed(lambda path: f"{self.subdir}/{path}").text

    @property
    def spec(self) -> SandboxSpec:
        """The sandbox that the project's tests run in."""
        needy = self.environment != Environment()
        environment = self.environment.with_source(self.files) if needy else None
        return SandboxSpec(environment=environment, limits=Limits(timeout_s=self.timeout_s), warm=False)

    def targets_of(self, tests: Iterable[str]) -> list[str]:
        """Return what pytest has to run for these tests: their files, and for a conftest.py the tests that load it."""
        targets: set[str] = set()
        for path in {path_of(test) for test in tests}:
            folder = posixpath.dirname(path)
            if not is_conftest(path):
                targets.add(path)
            elif not folder:
                return list(self.command.targets)
            else:
                named = {target: f"{posixpath.normpath(path_of(target))}/" for target in self.command.targets}
                targets.update({target for target in named if named[target].startswith(f"{folder}/")} or {folder})
        return sorted(targets)

    def leaving_out(self, tests: Iterable[str]) -> Project:
        """Return the same project without these tests."""
        return replace(self, command=self.command.without(tests))

    def at(self, commit: str) -> Project:
        """Return the same project at another commit. Raises BenchmarkError."""
        full = resolve_commit(self.repository, commit)
        return replace(self, commit=full, files=CommitFiles(self.repository, full, subdir=self.subdir))


def is_conftest(path: str) -> bool:
    """Whether this is the path of a conftest.py."""
    return posixpath.basename(path) == CONFTEST


def open_project(path: Path, wishes: TestOptions) -> Project:
    """Open the project committed at `path`. Raises BenchmarkError, with one sentence, if it cannot be fixed."""
    place = path.expanduser().resolve()
    if not place.is_dir():
        raise BenchmarkError(f"{path} is not a folder: name the repository to fix")
    repository, subdir = _repository_of(place)
    subdir, test = _run_in_folder(subdir, wishes.test)
    commit = resolve_commit(repository, "HEAD")
    if dirty := _dirty(repository, subdir):
        raise BenchmarkError(
            f"{place} has uncommitted changes ({shorten(dirty)}): commit or stash them, so that a fix is based on "
            "what you have"
        )
    files = CommitFiles(repository, commit, subdir=subdir)
    require_python(place.name, files)
    command = project_command(test, files)
    setup, requirements = wishes.setup, wishes.requirements
    if setup is None:
        setup = tuple(guess_setup(repository, commit, "" if subdir == "." else f"{subdir}/", command.targets))
        requirements = tuple(declared_requirements(files, requirements)) if setup else requirements
    environment = Environment(wishes.python, requirements, tuple(filter(None, setup)))
    return Project(repository, commit, files, command, environment, wishes.timeout_s, subdir)


def _repository_of(place: Path) -> tuple[Path, str]:
    """Return the repository that contains a folder, and the folder's path in it. Raises BenchmarkError."""
    if is_repository(place):
        return place, "."
    try:
        repository = enclosing_repository(place)
    except BenchmarkError:
        raise BenchmarkError(
            f"{place} is not in a git repository: a fix is based on a commit, so run `git init` and commit"
        ) from None
    return repository, place.relative_to(repository).as_posix()


def _run_in_folder(subdir: str, test: str) -> tuple[str, str]:
    """Return the folder of the repository in which a test command runs, and the command as it is given there.

    `cd services/billing && pytest` tests the project in that folder. Raises BenchmarkError.
    """
    run = pytest_run(test) if test else None
    if run is None or run.folder == ".":
        return subdir, test
    folder = posixpath.normpath(posixpath.join(subdir, run.folder))
    if folder.startswith((posixpath.pardir, "/")):
        raise BenchmarkError(f"{test!r} runs in {run.folder}, which is outside of the repository: name a folder in it")
    return folder, shell_command(run._replace(folder="."), run.arguments)


def require_separate(project: Project, out: Path) -> None:
    """Raises BenchmarkError if the output would be written into the checkout."""
    if out.resolve().is_relative_to(project.repository):
        raise BenchmarkError(
            f"--out {out} is inside {project.repository}, which stackrank never changes: name another folder"
        )


def list_lfs_pointers(project: Project) -> list[str]:
    """Return the files of which git has only a pointer, because their content is in Git LFS and in no commit."""
    attributes = [attribute_text for name, attribute_text in project.files.items() if name.endswith(".gitattributes")]
    if not any(b"filter=lfs" in attribute_text for attribute_text in attributes):
        return []
    return [name for name, content in project.files.items() if content.startswith(LFS_POINTER)]


def list_own_loaders(project: Project) -> list[str]:
    """Return the files that choose their tests by `load_tests` or `test_suite`, of which pytest knows nothing."""
    tests = (name for name in project.files if name.endswith(".py") and is_test(name))
    return [name for name in tests if _OWN_LOADER.search(project.files[name])]


def _dirty(place: Path, subdir: str) -> list[str]:
    """Return the tracked files of a folder of a repository that differ from the commit."""
    if is_bare(place):
        return []
    below = "" if subdir == "." else f"{subdir}/"
    changed = {path: state for path, state in changed_files(place).items() if path.startswith(below)}
    return [path for path, state in changed.items() if state != " M" or not _is_pointed_at(place, path)]


def _is_pointed_at(place: Path, path: str) -> bool:
    """Whether the committed file is a Git LFS pointer to the file's current content."""
    committed = read_at(place, "HEAD", [path]).get(path, b"")
    if not committed.startswith(LFS_POINTER) or not (place / path).is_file():
        return False
    with (place / path).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return f"oid sha256:{digest}\n".encode() in committed


def shorten(names: Iterable[str]) -> str:
    """Return the first few names, for a sentence."""
    listed = [name.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for name in names]
    return ", ".join(listed[:3]) + (", ..." if len(listed) > 3 else "")
