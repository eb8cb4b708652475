"""Read folders of tasks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.git import GitError, enclosing_repository, read_git
from stackrank.env.patterns import Matcher, Pattern, globs
from stackrank.patches.contents import Link, read_content


def read_tree(folder: Path, hidden: Iterable[Pattern] = (), *, caches: bool = False) -> dict[str, bytes]:
    """Return relative path -> content of files below `folder` that no pattern in `hidden` matches.

    The content of a link that leaves the folder is not read. Files that vanish meanwhile are left out.
    `caches`: whether files in a `__pycache__` are wanted too. Raises BenchmarkError for a file that cannot be read.
    """
    matcher = Matcher(hidden)
    files = {}
    for place, folders, file_names in os.walk(folder):
        if not caches and "__pycache__" in folders:
            folders.remove("__pycache__")
        links = (name for name in folders if Path(place, name).is_symlink())
        for path in (Path(place, name) for name in (*file_names, *links)):
            name = path.relative_to(folder).as_posix()
            if matcher.matches(name):
                continue
            try:
                content = _followed(folder, path) if path.is_symlink() else read_content(path)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise BenchmarkError(f"{path} cannot be read: {error.strerror}") from None
            if content is not None:
                files[name] = content
    return dict(sorted(files.items(), key=lambda file: file[0].split("/")))


def _followed(folder: Path, path: Path) -> bytes | None:
    """Return a link with the content of the file to which it leads, if that is in the folder."""
    link, target = read_content(path), path.resolve()
    if isinstance(link, Link) and target.is_relative_to(folder.resolve()) and target.is_file():
        return Link(link.target, target.read_bytes())
    return link


def read_text(file: Path, *, exact: bool = False) -> str:
    """Read a text file. Raises BenchmarkError, which names it. `exact`: line endings stay as they are."""
    try:
        with file.open(encoding="utf-8", newline="" if exact else None) as opened:
            return opened.read()
    except OSError as error:
        raise BenchmarkError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BenchmarkError(f"{file} is not UTF-8 text (byte {error.start}): download it again") from None


def read_patch(file: Path) -> str:
    """Read a patch exactly. Bytes that are not UTF-8 become surrogates. Raises BenchmarkError, which names the file."""
    try:
        return file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise BenchmarkError(f"{file} cannot be read: {error.strerror}") from None


def read_patterns(file: Path) -> tuple[Pattern, ...]:
    """Return the gitignore patterns in a file; none if it does not exist."""
    if not file.is_file():
        return ()
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    return globs(line for line in lines if line.strip() and not line.startswith("#"))


def commit_of(folder: Path) -> str:
    """Return the short hash of the commit at which a folder was checked out; empty if it is not known."""
    try:
        return read_git(enclosing_repository(folder), "rev-parse", "--short=12", "HEAD").decode().strip()
    except GitError:
        return ""
