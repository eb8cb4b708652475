"""What a program leaves behind when it has ended, so that two moments can be compared: a branch needs to know."""

from __future__ import annotations

import _thread
import contextlib
import os
import time
from typing import Any, Iterator, List

from ..core.disk import stamp_of

_BESIDE = ("/tmp", "/dev/shm", "/dev/mqueue")
"""What programs can write to in a sandbox, beside its workspace."""
_IPC = ("/proc/sysvipc/msg", "/proc/sysvipc/sem", "/proc/sysvipc/shm")
"""Lists of the objects of System V, which outlive their processes too."""
_MOST_FILES = 10_000
"""Every episode pays for the look at them, and only some are branched."""


def footprint(root: str) -> str:
    """Identify what is in the workspace `root` and everywhere else where a program can leave something behind.

    The text stays the same until something there is made, changed or removed. It is empty if that cannot be known:
    because this sandbox is not isolated from others, or has too many files.
    """
    if os.getpid() != 1:
        return ""
    found: List[Any] = []
    for folder in (root, *filter(os.path.isdir, _BESIDE)):
        for entry in _content(folder):
            found.append(entry)
            if len(found) > _MOST_FILES:
                return ""
    for path in filter(os.path.exists, _IPC):
        with open(path, encoding="ascii") as file:
            found.append(file.read())
    return "%x" % (hash(tuple(found)) & 0xFFFFFFFFFFFFFFFF)


def _content(top: str) -> Iterator[Any]:
    """Yield something for each file and folder, links not followed. The times of folders do not count."""
    pending = [top]
    while pending:
        folder = pending.pop()
        yield folder, os.lstat(folder).st_mode
        with contextlib.suppress(PermissionError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    yield entry.path, stamp_of(entry.path)


def use_pids(until: int) -> int:
    """Use up process ids, so that the next program gets one above `until`. Returns the last one, which is used now.

    A thread gets its id from the same numbers, and costs less than a process.
    """
    used: List[int] = []
    while not used or used[-1] < until:
        ended = _thread.allocate_lock()
        ended.acquire()
        _thread.start_new_thread(_use_pid, (used, ended))
        ended.acquire()
    while len(os.listdir("/proc/self/task")) > 1:  # a fork needs a process without other threads
        time.sleep(0.0001)
    return used[-1]


def _use_pid(used: List[int], ended: "_thread.LockType") -> None:
    used.append(_thread.get_native_id())
    ended.release()
