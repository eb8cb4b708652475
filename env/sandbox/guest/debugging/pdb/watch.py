"""Whether files of the workspace may have changed, without a look at each of them after each step of the debugger."""

from __future__ import annotations

import ctypes
import os

from ...core.disk import folder_content

# include/uapi/linux/inotify.h
_MODIFIED, _ATTRIBUTES, _MOVED, _CREATED, _DELETED, _FOLDERS_ONLY = 0x2, 0x4, 0xC0, 0x100, 0x200, 0x1000000
_CHANGES = _MODIFIED | _ATTRIBUTES | _MOVED | _CREATED | _DELETED | _FOLDERS_ONLY
_MOST_READ = 1 << 20


class Watch:
    """Has the kernel report changes in a folder and in those below it. See inotify(7).

    It says nothing of files that are written through a shared mapping: whoever looks at all files sees them.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._libc = ctypes.CDLL(None)
        self._fd: int = self._libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        self._is_new = True

    def may_have_changed(self) -> bool:
        """Whether something may have changed since the last call. Always, if the kernel can watch no more folders."""
        if self._fd < 0:
            return True
        try:
            reported = os.read(self._fd, _MOST_READ)
        except BlockingIOError:
            reported = b""
        if reported or self._is_new:
            self._is_new = False
            self._watch_folders()
            return True
        return False

    def _watch_folders(self) -> None:
        """Watch every folder that is there now; one that is watched already stays as it is."""
        pending = [self._root]
        while pending:
            folder = pending.pop()
            if self._libc.inotify_add_watch(self._fd, os.fsencode(folder), _CHANGES) < 0 and os.path.isdir(folder):
                os.close(self._fd)
                self._fd = -1
                return
            pending += folder_content(folder, set())[0]
