"""Files of a commit, read from a git repository without its history and only when they are needed."""

from __future__ import annotations

import functools
import hashlib
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.environment import files_digest
from stackrank.env.git import GitError, enclosing_repository, exchange_git, read_git
from stackrank.env.patches import make_diff
from stackrank.env.patterns import Matcher, Pattern
from stackrank.home import home, locked
from stackrank.patches.contents import LINK, Link, link_destination, with_mode
from stackrank.patches.reading import SUBMODULE, Patch

LFS_POINTER = b"version https://git-lfs.github.com/spec/"
"""How a file begins that only points to its content in Git LFS."""
_ABSENT = "000000"
"""The mode of a file that does not exist."""
_TREES = 4  # whole trees kept in memory, tens of megabytes each with their contents


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
        if not path.is_dir():
            raise BenchmarkError(f"{path} is not a folder: name a git repository")
        if not is_repository(path):
            raise BenchmarkError(f"{path} is not a git repository{_enclosing(path)}")
        return path
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    clone = home() / "repositories" / f"{digest}.git"
    with locked(f"repositories/{digest}"):
        if not clone.exists():
            exchange_git(clone.parent, "clone", "--quiet", "--bare", "--template=", source, clone.name)
        elif not has_commit(clone, commit):
            exchange_git(clone, "--git-dir=.", "fetch", "--quiet", source, "+refs/heads/*:refs/heads/*")
    return clone


def _enclosing(folder: Path) -> str:
    """Return the remedy for a folder that is not a repository."""
    try:
        repository = enclosing_repository(folder)
    except GitError:
        return ": run `git init` and commit, or name another one"
    return f", but a folder of {repository}: name that one, with --subdir {folder.relative_to(repository)}"


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
        if not read_git(repository, "rev-list", "--all", "--max-count=1"):
            raise BenchmarkError(f"{repository} has no commits yet: commit its files")
        raise BenchmarkError(f"{repository} has no commit {commit}: fetch it")
    return read_git(repository, "rev-parse", "--verify", f"{commit}^{{commit}}").decode().strip()


class _Entry(NamedTuple):
    """A file of a commit."""

    mode: str
    name: str
    """The hash of its content."""
    target: bytes = b""
    """Of a link: where it leads, relative to its folder."""
    destination: str = ""
    """Of a link: the path to which it leads; empty if that is not below the folder."""


class Difference(NamedTuple):
    """What differs between two commits."""

    patch: Patch
    """The changes of files, with paths relative to the subfolder."""
    submodules: tuple[str, ...]
    """Paths of submodules that changed. They are no part of the patch, because their files are in other repositories.
    """
    pointers: tuple[str, ...]
    """Paths of changed files whose content is in Git LFS: the patch has only pointers to it."""


def diff_of(repository: Path, old: str, new: str, subdir: str = ".") -> Difference:
    """Return what differs between two commits below `subdir`, byte for byte. Raises BenchmarkError."""
    limits = [] if subdir == "." else [f"--relative={subdir.strip('/')}/"]
    out = read_git(repository, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", *limits, old, new)
    fields = iter(out.decode("utf-8", "surrogateescape").split("\0"))
    submodules: list[str] = []
    blobs: list[tuple[dict[str, bytes], str, str, str]] = []  # side, path, mode, hash
    sides: tuple[dict[str, bytes], dict[str, bytes]] = {}, {}
    for attributes, path in zip(fields, fields, strict=False):
        old_mode, new_mode, old_name, new_name = attributes.removeprefix(":").split()[:4]
        if SUBMODULE in (old_mode, new_mode):
            submodules.append(path)
        entries = zip(sides, (old_mode, new_mode), (old_name, new_name), strict=True)
        blobs += [(side, path, mode, name) for side, mode, name in entries if mode not in (SUBMODULE, _ABSENT)]
    for (side, path, mode, _), content in zip(blobs, _read(repository, (blob[-1] for blob in blobs)), strict=True):
        side[path] = with_mode(content, mode)
    pointers = (path for side in sides for path, content in side.items() if content.startswith(LFS_POINTER))
    return Difference(Patch.read(make_diff(*sides)), tuple(submodules), tuple(dict.fromkeys(pointers)))


def parent_and_message(repository: Path, commit: str) -> tuple[str, str]:
    """Return a commit's first parent and its message. Raises BenchmarkError for a commit without a parent."""
    out = read_git(repository, "show", "--no-patch", "--format=%P%n%B", commit).decode("utf-8", "replace")
    parents, _, message = out.partition("\n")
    if not parents:
        if read_git(repository, "rev-parse", "--is-shallow-repository").strip() == b"true":
            raise BenchmarkError(
                f"{repository} is shallow and lacks what is before {commit}: run `git fetch --unshallow`"
            )
        raise BenchmarkError(f"{commit} is the first commit, and there is nothing before it: choose a later one")
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
def _tree(repository: Path, commit: str, subdir: str) -> dict[str, _Entry]:
    """Return path below `subdir` -> what git stores for every file. Submodules are left out."""
    treeish = commit if subdir == "." else f"{commit}:{subdir.strip('/')}"
    try:
        tree = dict(_entries(read_git(repository, "ls-tree", "-r", "-z", treeish)))
    except GitError:
        if subdir == ".":
            raise
        raise BenchmarkError(f"{repository} has no files below {subdir} in the commit {commit[:12]}") from None
    links = [path for path, entry in tree.items() if entry.mode == LINK]
    for path, target in zip(links, _read(repository, (tree[path].name for path in links)), strict=True):
        tree[path] = tree[path]._replace(target=target, destination=link_destination(path, target) or "")
    return tree


def _entries(listing: bytes) -> Iterator[tuple[str, _Entry]]:
    """Yield path and entry of every file in a listing of git."""
    for line in filter(None, listing.decode("utf-8", "surrogateescape").split("\0")):
        attributes, _, path = line.partition("\t")
        mode, kind, name = attributes.split()
        if kind == "blob":
            yield path, _Entry(mode, name)


def _contents_of(repository: Path, tree: Mapping[str, _Entry], paths: Iterable[str]) -> dict[str, bytes]:
    """Return path -> content for files of a tree. A link has the content of the file to which it leads."""
    files = {path: _followed(tree, path) for path in paths}
    names = list(dict.fromkeys(entry.name for entry in files.values() if entry is not None))
    blobs = dict(zip(names, _read(repository, names), strict=True))
    contents = {}
    for path, file in files.items():
        content = b"" if file is None else blobs[file.name]
        entry = tree[path]
        contents[path] = Link(entry.target, content) if entry.mode == LINK else with_mode(content, entry.mode)
    return contents


def _followed(tree: Mapping[str, _Entry], path: str) -> _Entry | None:
    """Return the file to which a path leads, through any number of links; None if there is none."""
    passed: set[str] = set()
    while path in tree and path not in passed:
        if tree[path].mode != LINK:
            return tree[path]
        passed.add(path)
        path = tree[path].destination
    return None


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
    # git refuses paths that no file of a commit can have.
    usable = [path for path in paths if not {"", ".", ".."} & {*path.split("/")}]
    if not usable:
        return {}
    listing = read_git(repository, "--literal-pathspecs", "ls-tree", "-z", commit, "--", *usable)
    entries = {path: entry for path, entry in _entries(listing) if path in paths}
    contents = _read(repository, (entry.name for entry in entries.values()))
    return {
        path: with_mode(content, entry.mode) for (path, entry), content in zip(entries.items(), contents, strict=True)
    }


@functools.lru_cache(maxsize=_TREES)
def _contents(repository: Path, commit: str, subdir: str) -> dict[str, bytes]:
    tree = _tree(repository, commit, subdir)
    return _contents_of(repository, tree, tree)


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
        return {**files, **_contents_of(self._place[0], tree, unchanged)}

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
