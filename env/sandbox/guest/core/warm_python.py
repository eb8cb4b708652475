"""The handle on the warm Python, which forks a program in milliseconds; starting one takes a quarter of a second.

What runs inside it is `guest.testing.warm`. The process is replaced if packages were installed since its start.
"""

from __future__ import annotations

import array
import json
import os
import select
import signal
import site
import socket
import subprocess
import sysconfig
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from .processes import KEPT, CannotStart, Child, kill_tree

_START_PATIENCE_S = 20.0
_FORK_PATIENCE_S = 5.0


class Adopted:
    """A process that became our child when its parent ended, with the part of `Popen` that is needed."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: Optional[int] = None

    def poll(self) -> Optional[int]:
        """Return the exit status, negative for a signal; None while the process runs."""
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                self.returncode = -signal.SIGKILL
            else:
                if pid:
                    self.returncode = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        return self.returncode

    def wait(self, timeout: Optional[float] = None) -> int:
        """Wait for the exit status, as `Popen.wait` does."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self.poll() is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("warm", timeout or 0)
            time.sleep(0.002)
        assert self.returncode is not None
        return self.returncode


class WarmPython:
    """The guest's handle on the warm process."""

    def __init__(self, launch: Callable[[int], Child], forked: Optional[Tuple[int, int]] = None) -> None:
        """`launch` starts `guest.testing.warm.main` with the socket's descriptor as its argument.

        `forked`: socket and process id of a warm process that was forked with the sandbox.
        """
        self._launch = launch
        self._process: Optional[Child] = None
        self._socket: Optional[socket.socket] = None
        self._stamp: List[Any] = []
        self._never = False
        self.given = forked is not None
        """Whether the warm process is the one that was forked with the sandbox."""
        if forked is not None:
            self._process, self._socket = Adopted(forked[1]), socket.socket(fileno=forked[0])
            self._stamp = _installed()
            KEPT.add(forked[1])

    def prepare(self) -> bool:
        """Start the warm process unless it runs and is up to date. Returns False if it cannot be started."""
        if self._never:
            return False
        stamp = _installed()
        if self._process is not None and stamp == self._stamp and self._process.poll() is None:
            return True
        self.close()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._process = self._launch(theirs.fileno())
        except CannotStart:
            ours.close()
            return False
        finally:
            theirs.close()
        KEPT.add(self._process.pid)
        self._socket, self._stamp = ours, stamp
        answer = self._receive(_START_PATIENCE_S)
        self._never = bool(answer.get("never"))
        if not answer.get("ready"):
            self.close()
            return False
        return True

    def fork(self, arguments: List[str], fds: List[int], expected: List[str]) -> Optional[Adopted]:
        """Fork a process for `guest.child.child(arguments)`; `fds`: its standard descriptors and those it reports to.

        Their numbers are inserted after the program's name. `expected`: modules to import first. Returns None if there
        is no warm process to fork.
        """
        if not self.prepare():
            return None
        assert self._socket is not None
        try:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds).tobytes())]
            self._socket.sendmsg([json.dumps([arguments, expected]).encode()], rights)
            answer = self._receive(_FORK_PATIENCE_S)
        except OSError:
            answer = {}
        if "pid" not in answer:
            self.close()
            return None
        return Adopted(answer["pid"])

    def _receive(self, patience_s: float) -> Dict[str, Any]:
        assert self._socket is not None
        ready, _, _ = select.select([self._socket], [], [], patience_s)
        try:
            data = self._socket.recv(1 << 16) if ready else b""
            answer: Dict[str, Any] = json.loads(data) if data else {}
        except (OSError, ValueError):
            answer = {}
        return answer

    def close(self) -> None:
        """End the warm process. The processes that it forked live on."""
        if self._process is None:
            return
        assert self._socket is not None
        self._socket.close()
        KEPT.discard(self._process.pid)
        kill_tree({self._process.pid}, collect=self._process.poll)
        self._process = self._socket = None
        self.given = False


def _installed() -> List[Any]:
    """Return a stamp that changes when a package is installed where the interpreter finds it."""
    places = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *_site_folders()}
    stamps: List[Any] = []
    for place in sorted(places):
        try:
            info = os.stat(place)
            stamps.append((place, info.st_ino, info.st_mtime_ns))
        except OSError:
            stamps.append((place,))
    return stamps


def _site_folders() -> List[str]:
    return [*site.getsitepackages(), site.getusersitepackages()]
