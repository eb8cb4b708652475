"""Files of a commit, read from a git repository without its history and only when they are needed."""

from __future__ import annotations

import functools
import hashlib
import io
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.environment import files_digest
from stackrank.env.git import exchange_git, read_git
from stackrank.env.patterns import Matcher, Pattern
from stackrank.home import home, locked

_TREES = 4  # whole trees kept in memory, tens of megabytes each with their contents
_LINK = "120000"


def is_repository(folder: Path) -> bool:
    """Whether the folder is a clone or a bare repository."""
    return (folder / ".git").exists() or ((folder / "HEAD").is_file() and (folder / "objects").is_dir())


def find_repository(repos: Path, name: str) -> Path | None:
    """Return the clone of `owner/name` below a folder of repositories, in any of the usual layouts, bare or not."""
    owner, _, short = name.partition("/")
    for place in (name, f"{owner}__{short}", f"{owner}+{short}", f"{owner}-{short}", short):
        for folder in (repos / place, repos / f"{place}.git"):
            if not folder.is_dir():
                continue
            candidates = [folder, *sorted(candidate for candidate in folder.iterdir() if candidate.is_dir())]
            repository = next((candidate for candidate in candidates if is_repository(candidate)), None)
            if repository is not None:
                return repository
    return None


def open_repository(source: str, commit: str, folder: Path) -> Path:
    """Return the repository at a path (relative to `folder`) or URL that has the commit; a URL is cloned once.

    Raises BenchmarkError.
    """
    if not re.match(r"[a-z+]+://|[\w.-]+@[\w.-]+:", source):
        path = (folder / source).expanduser().resolve()
        if not path.is_dir() or not is_repository(path):
            raise BenchmarkError(f"{path} is not a git repository")
        return path
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    clone = home() / "repositories" / f"{digest}.git"
    with locked(f"repositories/{digest}"):
        if not clone.exists():
            exchange_git(clone.parent, "clone", "--quiet", "--bare", "--template=", source, clone.name)
        elif not has_commit(clone, commit):
            exchange_git(clone, "--git-dir=.", "fetch", "--quiet", source, "+refs/heads/*:refs/heads/*")
    return clone


def has_commit(repository: Path, commit: str) -> bool:
    """Whether the repository has a commit of that name."""
    try:
        read_git(repository, "cat-file", "-e", f"{commit}^{{commit}}")
    except BenchmarkError:
        return False
    return True


def resolve_commit(repository: Path, commit: str) -> str:
    """Return the full hash of a commit. Raises BenchmarkError."""
    if commit.startswith("-") or not has_commit(repository, commit):
        raise BenchmarkError(f"{repository} has no commit {commit}: fetch it")
    return read_git(repository, "rev-parse", "--verify", f"{commit}^{{commit}}").decode().strip()


def diff_of(repository: Path, old: str, new: str, subdir: str = ".") -> str:
    """Return the unified diff between two commits, with paths relative to `subdir`."""
    limits = [] if subdir == "." else [f"--relative={subdir}"]
    return read_git(
        repository, "diff", "--no-ext-diff", "--no-textconv", "--no-renames", "--full-index", *limits, old, new
    ).decode("utf-8", "surrogateescape")


def parent_and_message(repository: Path, commit: str) -> tuple[str, str]:
    """Return a commit's first parent and its message. Raises BenchmarkError for a commit without a parent."""
    out = read_git(repository, "show", "--no-patch", "--format=%P%n%B", commit).decode("utf-8", "replace")
    parents, _, message = out.partition("\n")
    if not parents:
        raise BenchmarkError(f"{commit} is the first commit: there is nothing before it")
    return parents.split()[0], message.strip()


def commit_time(repository: Path, commit: str) -> float:
    """Return when a commit was made, in seconds since 1970. Raises BenchmarkError."""
    return float(read_git(repository, "show", "--no-patch", "--format=%ct", commit).decode())


@functools.lru_cache(maxsize=64)
def latest_version(repository: Path, commit: str) -> str:
    """Return the version that the newest tag before a commit names, such as 1.2; empty if there is none."""
    try:
        tag = read_git(repository, "describe", "--tags", "--abbrev=0", commit).decode("utf-8", "replace")
    except BenchmarkError:
        return ""
    version = re.search(r"\d+(\.\d+)*", tag)
    return version[0] if version else ""


@functools.lru_cache(maxsize=_TREES)
def _tree(repository: Path, commit: str, subdir: str) -> dict[str, str]:
    """Return path below `subdir` -> hash of every file.

    A link that stays inside counts as the file to which it leads; other links, and submodules, are left out.
    """
    treeish = commit if subdir == "." else f"{commit}:{subdir.strip('/')}"
    entries = read_git(repository, "ls-tree", "-r", "-z", treeish).decode("utf-8", "surrogateescape").split("\0")
    hashes: dict[str, str] = {}
    links: dict[str, str] = {}
    for entry in filter(None, entries):
        attributes, _, path = entry.partition("\t")
        mode, kind, name = attributes.split()
        if kind == "blob":
            (links if mode == _LINK else hashes)[path] = name
    resolved: dict[str, str] = {}
    for path, target in zip(links, _read(repository, links.values()), strict=True):
        real = posixpath.normpath(posixpath.join(posixpath.dirname(path), target.decode("utf-8", "replace")))
        if real in hashes:
            resolved[path] = hashes[real]
    return {**hashes, **resolved}


def _read(repository: Path, names: Iterable[str]) -> list[bytes]:
    """Return the contents of objects, in order. Raises BenchmarkError."""
    hashes = list(names)
    out = io.BytesIO(
        read_git(repository, "cat-file", "--batch", stdin="".join(f"{name}\n" for name in hashes).encode())
    )
    contents = []
    for name in hashes:
        header = out.readline().split()
        if header[1] != b"blob":
            raise BenchmarkError(f"{repository} lacks the object {name}: it is not a full clone")
        contents.append(out.read(int(header[2])))
        out.read(1)
    return contents


def read_at(repository: Path, commit: str, paths: Collection[str]) -> dict[str, bytes]:
    """Return those of the given files that a commit has, without listing its other files."""
    requested = [path for path in paths if "\n" not in path]
    stdin = "".join(f"{commit}:{path}\n" for path in requested).encode()
    out = io.BytesIO(read_git(repository, "cat-file", "--batch", stdin=stdin))
    files = {}
    for path in requested:
        header = out.readline().split()
        if header[-1] == b"missing":
            continue
        content = out.read(int(header[-1]))
        out.read(1)
        if header[-2] == b"blob":
            files[path] = content
    # A request is a line, so these cannot be asked for by name.
    if remaining := [path for path in paths if "\n" in path]:
        files |= CommitFiles(repository, commit).read(remaining)
    return files


@functools.lru_cache(maxsize=_TREES)
def _contents(repository: Path, commit: str, subdir: str) -> dict[str, bytes]:
    tree = _tree(repository, commit, subdir)
    return dict(zip(tree, _read(repository, tree.values()), strict=True))


class CommitFiles(Mapping[str, bytes]):
    """The files of a commit: names are read when needed, contents once one is needed, and nothing is kept for long."""

    def __init__(
        self,
        repository: Path | None,
        commit: str,
        *,
        subdir: str = ".",
        changed: Mapping[str, bytes | None] | None = None,
        changed_digest: str = "",
        hidden: tuple[Pattern, ...] = (),
    ) -> None:
        """`repository`: None if it is not available; then reading raises BenchmarkError. `commit`: the full hash.

        `changed`: files with other content, or None for a file that is missing. `changed_digest`: stands for them in
        the digest. `hidden`: patterns of files that are left out.
        """
        self._repository, self._commit, self._subdir = repository, commit, subdir
        self._changed = dict(changed or {})
        self._changed_digest = changed_digest
        self._hidden = hidden
        self._matcher = Matcher(hidden)

    @functools.cached_property
    def digest(self) -> str:
        """A digest that is equal for equal files only."""
        files = {path: content for path, content in self._changed.items() if content is not None}
        deleted = sorted(path for path, content in self._changed.items() if content is None)
        changed = self._changed_digest or (files_digest(files), deleted)
        parts = (self._commit, self._subdir, changed, tuple(pattern.text for pattern in self._hidden))
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    @property
    def _place(self) -> tuple[Path, str, str]:
        if self._repository is None:
            raise BenchmarkError("the files of its repository are needed: name a folder of clones with --repos")
        return self._repository, self._commit, self._subdir

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return those of the given files that exist, without reading the others."""
        tree = _tree(*self._place)
        existing = [path for path in paths if path in self]
        files = {path: content for path in existing if (content := self._changed.get(path)) is not None}
        unchanged = [path for path in existing if path not in files]
        files.update(zip(unchanged, _read(self._place[0], (tree[path] for path in unchanged)), strict=True))
        return files

    def with_changes(self, changed: Mapping[str, bytes | None], hidden: tuple[Pattern, ...] = ()) -> CommitFiles:
        """Return the same files with changes on top."""
        merged = {**self._changed, **changed}
        patterns = (*self._hidden, *hidden)
        return CommitFiles(self._repository, self._commit, subdir=self._subdir, changed=merged, hidden=patterns)

    def __getitem__(self, path: str) -> bytes:
        if path not in self:
            raise KeyError(path)
        content = self._changed.get(path)
        return content if content is not None else _contents(*self._place)[path]

    def __iter__(self) -> Iterator[str]:
        names = {*_tree(*self._place), *self._changed}
        names -= {path for path, content in self._changed.items() if content is None}
        if self._hidden:
            names -= set(self._matcher.select(names))
        return iter(sorted(names))

    def __contains__(self, path: object) -> bool:
        name = str(path)
        exists = self._changed[name] is not None if name in self._changed else name in _tree(*self._place)
        return exists and not (self._hidden and self._matcher.matches(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)
