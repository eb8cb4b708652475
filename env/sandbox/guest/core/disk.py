"""Files and folders on the disk: their names, stamps and content, and emptying a folder."""

from __future__ import annotations

import contextlib
import functools
import operator
import os
import stat
from typing import List, Optional, Set, Tuple


@functools.lru_cache(maxsize=None)
def real_file(name: str) -> str:
    """Return the path that a file has without links. Names that are no files, such as `<string>`, stay.

    A code object names its file as it was imported: in a project whose package links to folders elsewhere, that is not
    the path which the workspace lists.
    """
    return name if name[:1] == "<" else os.path.realpath(name)


def content_of(real: str, limit: int) -> Optional[bytes]:
    """Return a regular file's content, even if its owner may not read it; None if it cannot be carried over."""
    try:
        info = os.lstat(real)
        if not stat.S_ISREG(info.st_mode) or info.st_size > limit:
            return None
        if not info.st_mode & 0o400:
            os.chmod(real, 0o600)
        with open(real, "rb") as file:
            return file.read(limit)
    except OSError:
        return None


def folder_content(folder: str, left_out: Set[str]) -> Tuple[List[str], List[str]]:
    """Return the paths of the folders and of the files in a folder, each sorted; links to folders are neither.

    `left_out`: names of folders. Both are empty if the folder cannot be read.
    """
    folders: List[str] = []
    files: List[str] = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in sorted(entries, key=_name):
            try:
                is_folder = entry.is_dir()
            except OSError:
                is_folder = False
            if not is_folder:
                files.append(entry.path)
            elif entry.name not in left_out and not entry.is_symlink():
                folders.append(entry.path)
    return folders, files


_name = operator.attrgetter("name")


def empty(folder: str) -> None:
    """Remove everything in a folder except mounts and the folders that lead to them."""
    device = os.stat(folder).st_dev
    with os.scandir(folder) as entries:
        for entry in entries:
            info = entry.stat(follow_symlinks=False)
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
            elif info.st_dev == device and info.st_uid == os.getuid():
                os.chmod(entry.path, 0o700)
                empty(entry.path)
                with contextlib.suppress(OSError):  # holds a mount
                    os.rmdir(entry.path)


def stamp_of(real: str) -> Tuple[int, ...]:
    """Return what differs whenever a file is touched: a program cannot set back the change time."""
    try:
        info = os.lstat(real)
    except OSError:  # it is gone by now, or its path is longer than the system allows
        return ()
    return (info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_mode)
