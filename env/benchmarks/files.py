"""Read folders of tasks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.git import GitError, enclosing_repository, read_git
from stackrank.env.patterns import Matcher, Pattern, globs
from stackrank.host.plain_files import read_plain, real_path, walk
from stackrank.patches.contents import Link, read_content


def read_tree(folder: Path, hidden: Iterable[Pattern] = (), *, caches: bool = False) -> dict[str, bytes]:
    """Return relative path -> content of files below `folder` that no pattern in `hidden` matches.

    The content of a link that leaves the folder is not read. Files that vanish meanwhile are left out.
    `caches`: whether files in a `__pycache__` are wanted too. Raises BenchmarkError for a file that cannot be read.
    """
    matcher = Matcher(hidden)
    files = {}
    for path in walk(folder, () if caches else ("__pycache__",)):
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
    link, target = read_content(path), real_path(path)
    if isinstance(link, Link) and target.is_relative_to(real_path(folder)) and target.is_file():
        return Link(link.target, read_plain(target))
    return link


def read_file(file: Path, *, inside: Path | None = None) -> bytes:
    """Return the content of a file. Raises BenchmarkError, which names it.

    `inside`: the folder in which the file was found. Then it has to be a plain file there. None: the user named the
    file itself, which may be a pipe.
    """
    try:
        return file.read_bytes() if inside is None else read_plain(file, inside=inside)
    except OSError as error:
        raise BenchmarkError(f"{file} cannot be read: {error.strerror}") from None


def read_text(file: Path, *, inside: Path | None = None, exact: bool = False) -> str:
    """Read a text file. `exact`: line endings stay as they are. For the rest see `read_file`."""
    try:
        text = read_file(file, inside=inside).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BenchmarkError(f"{file} is not UTF-8 text (byte {error.start}): download it again") from None
    return text if exact else text.replace("\r\n", "\n").replace("\r", "\n")


def read_patch(file: Path, *, inside: Path | None = None) -> str:
    """Read a patch exactly. Bytes that are not UTF-8 become surrogates. For the rest see `read_file`."""
    return read_file(file, inside=inside).decode("utf-8", "surrogateescape")


def read_patterns(file: Path) -> tuple[Pattern, ...]:
    """Return the gitignore patterns in a file; none if it does not exist."""
    if not file.is_file():
        return ()
    lines = read_file(file, inside=file.parent).decode("utf-8", "replace").splitlines()
    return globs(line for line in lines if line.strip() and not line.startswith("#"))


def commit_of(folder: Path) -> str:
    """Return the short hash of the commit at which a folder was checked out; empty if it is not known."""
    try:
        return read_git(enclosing_repository(folder), "rev-parse", "--short=12", "HEAD").decode().strip()
    except GitError:
        return ""
