"""The repository to be fixed. It is read from its newest commit, and never written to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.git import CommitFiles, is_repository, read_at, resolve_commit
from stackrank.env.benchmarks.guess_setup import guess_setup
from stackrank.env.benchmarks.pytest_command import TestCommand, default_command
from stackrank.env.environment import Environment
from stackrank.env.git import changed_files, is_bare, read_git
from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.task import Limits

_POINTER = b"version https://git-lfs.github.com/spec/"


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

    @property
    def name(self) -> str:
        """The project's name for people."""
        return self.repository.name.removesuffix(".git")

    @property
    def spec(self) -> SandboxSpec:
        """The sandbox that the project's tests run in."""
        needy = self.environment != Environment()
        environment = self.environment.with_source(self.files) if needy else None
        return SandboxSpec(environment=environment, limits=Limits(timeout_s=self.timeout_s), warm=False)

    def at(self, commit: str) -> Project:
        """Return the same project at another commit. Raises BenchmarkError."""
        full = resolve_commit(self.repository, commit)
        files = CommitFiles(self.repository, full)
        return Project(self.repository, full, files, self.command, self.environment, self.timeout_s)


def open_project(path: Path, wishes: TestOptions) -> Project:
    """Open the project committed at `path`. Raises BenchmarkError, with one sentence, if it cannot be fixed."""
    place = path.expanduser().resolve()
    if not place.is_dir():
        raise BenchmarkError(f"{path} is not a folder: name the repository to fix")
    if not is_repository(place):
        raise BenchmarkError(
            f"{place} is not a git repository: a fix is based on a commit, so run `git init` and commit, or name its "
            "top folder"
        )
    commit = resolve_commit(place, "HEAD")
    if modules := _submodules(place, commit):
        raise BenchmarkError(
            f"{place} has submodules ({shorten(modules)}), whose files are not in its commits: run fix in a "
            "repository that has them as plain files"
        )
    if dirty := _dirty(place):
        raise BenchmarkError(
            f"{place} has uncommitted changes ({shorten(dirty)}): commit or stash them, so that a fix is based on "
            "what you have"
        )
    files = CommitFiles(place, commit)
    command = TestCommand.of(wishes.test or default_command(files), files)
    setup = tuple(guess_setup(place, commit, "")) if wishes.setup is None else wishes.setup
    environment = Environment(wishes.python, wishes.requirements, tuple(filter(None, setup)))
    return Project(place, commit, files, command, environment, wishes.timeout_s)


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
    return [name for name, content in project.files.items() if content.startswith(_POINTER)]


def _dirty(place: Path) -> list[str]:
    """Return the tracked files that differ from the commit."""
    if is_bare(place):
        return []
    changed = changed_files(place)
    return [path for path, state in changed.items() if state != " M" or not _is_pointed_at(place, path)]


def _is_pointed_at(place: Path, path: str) -> bool:
    """Whether the committed file is a Git LFS pointer to the file's current content."""
    committed = read_at(place, "HEAD", [path]).get(path, b"")
    if not committed.startswith(_POINTER) or not (place / path).is_file():
        return False
    with (place / path).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return f"oid sha256:{digest}\n".encode() in committed


def _submodules(place: Path, commit: str) -> list[str]:
    entries = read_git(place, "ls-tree", "-r", "-z", commit).decode("utf-8", "replace").split("\0")
    return [entry.partition("\t")[2] for entry in entries if entry.startswith("160000 ")]


def shorten(names: Iterable[str]) -> str:
    """Return the first few names, for a sentence."""
    listed = [name.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for name in names]
    return ", ".join(listed[:3]) + (", ..." if len(listed) > 3 else "")
