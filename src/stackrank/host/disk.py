"""What can be wrong with a file, a folder, a disk or a port, in one sentence with the path and the remedy."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LEAST_BYTES = 1 << 20
"""With less free space than this, a disk counts as full: SQLite and Prefect need some to open a database."""
_PROBLEMS = {
    errno.ENOSPC: ("the disk is full", "free some space"),
    errno.EDQUOT: ("your quota of this disk is used up", "free some space"),
    errno.EFBIG: ("the file would be larger than this disk or your limit allows", "name another folder"),
    errno.EROFS: ("the disk is read-only", "name another folder"),
    errno.EACCES: ("you have no permission", "change its permissions, or name another path"),
    errno.EPERM: ("you have no permission", "change its permissions, or name another path"),
    errno.ENOENT: ("there is no such file or folder", "create it, or name another path"),
    errno.ENOTDIR: ("a part of the path is a file, and not a folder", "name another path"),
    errno.EISDIR: ("it is a folder, and not a file", "name a file in it"),
    errno.EEXIST: ("it exists already", "name another path"),
    errno.ENAMETOOLONG: ("the name is too long", "name a shorter path"),
    errno.ELOOP: ("its links lead in a circle", "name another path"),
    errno.EMFILE: ("this process has too many open files", "raise the limit (`ulimit -n`), or use fewer workers"),
    errno.ENFILE: ("this machine has too many open files", "end other programs"),
    errno.EIO: ("the disk fails", "check the disk"),
    errno.EADDRINUSE: ("another program listens on this port", "choose another port"),
    errno.EADDRNOTAVAIL: ("this machine does not have that address", "choose another host"),
}
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def free_bytes(folder: Path) -> int | None:
    """Return the free space of the disk that a folder, or the nearest one above it, is on.

    None if that is unknown, or if no space would help: the disk is read-only, as an image is, or no disk (`/proc`).
    """
    for place in (folder, *folder.parents):
        try:
            disk = os.statvfs(place)
        except OSError:
            continue
        return None if disk.f_flag & os.ST_RDONLY or not disk.f_blocks else disk.f_bavail * disk.f_frsize
    return None


def is_full(folder: Path) -> bool:
    """Whether the disk that a folder is on has no space left."""
    free = free_bytes(folder)
    return free is not None and free < _LEAST_BYTES


@contextmanager
def naming(path: Path, part: Path | None = None) -> Iterator[None]:
    """Name `path` in errors of the system that name no file, as those of a write do, or that name its `part`."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename in (None, str(part), part):
            error.filename = str(path)
        raise


def explain_os_error(error: OSError, folders: Iterator[Path] | tuple[Path, ...] = ()) -> str:
    """Return what an error of the system means, as one sentence with the path and the remedy.

    `folders`: those to which the command writes, of which a full one is named if the error names no file.
    """
    path = str(error.filename or "")
    problem, remedy = _PROBLEMS.get(error.errno or 0, (str(error.strerror or error), ""))
    if not path and error.errno in _NO_SPACE:
        path = next((str(folder) for folder in (*folders, Path(tempfile.gettempdir())) if is_full(folder)), "")
    return ": ".join(filter(None, (path, problem, remedy)))
