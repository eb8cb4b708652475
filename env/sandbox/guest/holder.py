"""The program that keeps the files of an image in memory, in a container of the image that does nothing else.

Whether a page of a file is in memory is state that all containers of an image share: programs can change it and read
it. A page that is locked is always there. The program sees exactly the files that sandboxes of the image see.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import stat
from typing import Iterator, Set, Tuple

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_SPARE_MAPPINGS = 1000
_FAILED = ctypes.c_void_p(-1).value


def main(zip_fd: int) -> None:
    """Read a line with the most bytes to lock, lock all files, write a line, and wait for the end of input.

    The answer has `bytes`, how many were locked, and `problem`, which is empty if these are all.
    """
    most = int(os.read(0, 64))
    size, problem = 0, ""
    try:
        size = lock_all(most)
    except Problem as error:
        problem = str(error)
    os.write(1, json.dumps({"bytes": size, "problem": problem}).encode() + b"\n")
    while not problem and os.read(0, 64):
        pass


class Problem(Exception):
    """The files cannot be locked."""


def lock_all(most: int) -> int:
    """Lock every file of the root file system that this user can read. Returns their bytes. Raises Problem."""
    files = list(_files("/"))
    size = sum(size for _, size in files)
    if size > most:
        raise Problem("its files have %d MB, and at most %d MB are kept in memory" % (size >> 20, most >> 20))
    with open("/proc/sys/vm/max_map_count") as file:
        if len(files) > int(file.read()) - _SPARE_MAPPINGS:
            raise Problem("it has %d files, which are too many to be kept in memory" % len(files))
    for path, _ in files:
        lock_file(path)
    return size


def _files(folder: str) -> Iterator[Tuple[str, int]]:
    """Yield the path and the size of each readable file, once for each inode, outside of other mounts."""
    with open("/proc/self/mountinfo") as file:
        mounted = {line.split()[4] for line in file}
    seen: Set[Tuple[int, int]] = set()
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if os.path.join(place, name) not in mounted]
        for name in names:
            path = os.path.join(place, name)
            status = os.lstat(path)
            identity = (status.st_dev, status.st_ino)
            if path in mounted or identity in seen or not stat.S_ISREG(status.st_mode) or not status.st_size:
                continue
            seen.add(identity)
            if os.access(path, os.R_OK):
                yield path, status.st_size


def lock_file(path: str) -> None:
    """Keep a file in memory, all of it, as long as this process lives. Raises Problem."""
    fd = os.open(path, os.O_RDONLY)
    try:
        size = os.fstat(fd).st_size
        address = _libc.mmap(None, ctypes.c_size_t(size), mmap.PROT_READ, mmap.MAP_SHARED, fd, ctypes.c_long(0))
    finally:
        os.close(fd)
    if address == _FAILED or _libc.mlock(ctypes.c_void_p(address), ctypes.c_size_t(size)):
        raise Problem("%s cannot be locked in memory: %s" % (path, os.strerror(ctypes.get_errno())))
