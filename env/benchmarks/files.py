"""Read folders of tasks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.git import GitError, enclosing_repository, read_git
from stackrank.env.patterns import Matcher, Pattern, globs


def read_tree(folder: Path, hidden: Iterable[Pattern] = (), *, caches: bool = False) -> dict[str, bytes]:
    """Return relative path -> content of regular files below `folder` that no pattern in `hidden` matches.

    Links are left out, because they could lead anywhere, and so are files that vanish meanwhile.
    `caches`: whether files in a `__pycache__` are wanted too. Raises BenchmarkError for a file that cannot be read.
    """
    matcher = Matcher(hidden)
    files = {}
    for place, folders, file_names in os.walk(folder):
        if not caches and "__pycache__" in folders:
            folders.remove("__pycache__")
        for path in (Path(place, name) for name in file_names):
            name = path.relative_to(folder).as_posix()
            if matcher.matches(name) or path.is_symlink() or not path.is_file():
                continue
            try:
                files[name] = path.read_bytes()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise BenchmarkError(f"{path} cannot be read: {error.strerror}") from None
    return dict(sorted(files.items(), key=lambda file: file[0].split("/")))


def read_text(file: Path, *, exact: bool = False) -> str:
    """Read a text file. Raises BenchmarkError, which names it. `exact`: line endings stay as they are."""
    try:
        with file.open(encoding="utf-8", newline="" if exact else None) as opened:
            return opened.read()
    except OSError as error:
        raise BenchmarkError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BenchmarkError(f"{file} is not UTF-8 text (byte {error.start}): download it again") from None


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
