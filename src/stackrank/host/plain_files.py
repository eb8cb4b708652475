"""Reads plain files, and nothing else.

Others wrote the folders that people run stackrank in. A named pipe there would never answer, a device never end, and a
link may lead to any file of this machine. So whatever reads a file whose name somebody else chose reads it here.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

MOST_BYTES = 1 << 30
"""More is not read from one file, because it has to fit in memory."""


def read_plain(file: Path, *, inside: Path | None = None, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the content of a file. Raises OSError, also if it is a pipe, a socket or a device, or larger.

    `inside`: a folder that links may not leave; default: the file itself may be no link, but a folder above it.
    """
    if inside is not None:
        place = real_path(file)
        if not place.is_relative_to(real_path(inside)):
            raise OSError(errno.ELOOP, f"it is a link that leaves {inside}", str(file))
        file = place
    # Without O_NONBLOCK, opening a pipe waits for somebody who writes.
    opened = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(opened, "rb") as stream:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file", str(file))
        if status.st_size > most_bytes:
            raise OSError(errno.EFBIG, f"it has more than {most_bytes:,} bytes", str(file))
        return stream.read(most_bytes)


def real_path(path: Path) -> Path:
    """Return a path without links. A link that leads in a circle stays as it is."""
    return Path(os.path.realpath(path))


def is_plain(file: Path) -> bool:
    """Whether there is a file, and it is no link, pipe, socket, device or folder."""
    try:
        return stat.S_ISREG(file.lstat().st_mode)
    except (OSError, ValueError):
        return False


def walk(folder: Path, skipped: Collection[str] = ()) -> Iterator[Path]:
    """Yield what is no folder at or below a folder, at any depth. Folders that cannot be listed are left out.

    `skipped`: names of folders that are not looked into.
    """
    return (Path(entry.path) for entry in _entries(folder, skipped, left_out=OSError))


def list_special(folder: Path) -> Iterator[Path]:
    """Yield what is neither a folder nor a plain file at or below a folder. Raises OSError."""
    entries = _entries(folder, left_out=FileNotFoundError)  # git removes folders while it tidies up
    return (Path(entry.path) for entry in entries if not entry.is_file(follow_symlinks=False))


def _entries(folder: Path, skipped: Collection[str] = (), *, left_out: type[OSError]) -> Iterator[os.DirEntry[str]]:
    """Yield what is no folder at or below a folder. `left_out`: the errors because of which a folder is."""
    waiting = [os.fspath(folder)]
    while waiting:
        with suppress(left_out), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    yield entry
                elif entry.name not in skipped:
                    waiting.append(entry.path)
