"""A Python with pytest imported, which forks a program in milliseconds; starting one takes a quarter of a second.

Code of the workspace never runs in the warm process itself. The process is replaced if packages were installed since
its start. A verdict's run is forked only from one that came with its sandbox from a factory (see `guest.factory`).
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import signal
import site
import socket
import subprocess
import sys
import sysconfig
import time
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from .prepared import prepare, prepare_usual
from .processes import KEPT, CannotStart, Child, kill_tree

_PR_SET_DUMPABLE = 4
_NEEDS = {"laboratory": ("guest.laboratory",), "pdb": ("guest.programs",)}
"""What those programs of `guest.child` import that not every sandbox runs."""
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

    def __init__(self, launch: Callable[[int], Child], given: Optional[Tuple[int, int]] = None) -> None:
        """`launch` starts `main` below with the socket's descriptor as its argument.

        `given`: socket and process id of a warm process that was forked with the sandbox.
        """
        self._launch = launch
        self._process: Optional[Child] = None
        self._socket: Optional[socket.socket] = None
        self._stamp: List[Any] = []
        self._never = False
        self.given = given is not None
        """Whether the warm process is the one that was forked with the sandbox."""
        if given is not None:
            self._process, self._socket = Adopted(given[1]), socket.socket(fileno=given[0])
            self._stamp = _installed()
            KEPT.add(given[1])

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
        """Fork a process for `guest.child.child(arguments)`; `fds`: its standard descriptors and the one it reports to.

        The number of the last one replaces `arguments[1]`. `expected`: modules to import first. Returns None if there
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
            found: Dict[str, Any] = json.loads(data) if data else {}
        except (OSError, ValueError):
            found = {}
        return found

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
    found: List[Any] = []
    for place in sorted(places):
        try:
            info = os.stat(place)
            found.append((place, info.st_ino, info.st_mtime_ns))
        except OSError:
            found.append((place,))
    return found


def _site_folders() -> List[str]:
    return [*site.getsitepackages(), site.getusersitepackages()]


# ---- inside the warm process


def preload() -> None:
    """Import what a test run would import before it looks at the workspace."""
    import inspect

    from . import pytest_child

    pytest_child.preload()
    for name in ("_pytest._argcomplete", "difflib", "faulthandler", "readline"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # The first such call goes through all loaded modules; pytest makes it for the first traceback.
    inspect.getmodule(sys._getframe())


def preload_all() -> List[str]:
    """Import everything that our programs import. Returns the modules that a test run would not have imported."""
    preload()
    prepare_usual()
    before = set(sys.modules)
    for names in _NEEDS.values():
        for name in names:
            importlib.import_module(name)
    # ctypes stays: a second copy of it would have other types.
    return [name for name in {*sys.modules} - before | {"sysconfig"} if not name.startswith("guest.")]


def _import(names: List[str]) -> None:
    """Import the modules that are not there yet, so that forked processes have them."""
    missing = [name for name in names if name not in sys.modules]
    for name in missing:
        with contextlib.suppress(ImportError):  # the program that needs it reports that
            importlib.import_module(name)
    if missing:
        gc.freeze()


def _pytest_file() -> str:
    import pytest

    return pytest.__file__ or ""


def main(argv: List[str]) -> List[str]:
    """Wait for requests. Returns only in a forked child, with its arguments."""
    sock = socket.socket(fileno=int(argv[0]))
    sock.set_inheritable(False)
    gc.disable()
    preload()
    gc.freeze()
    if os.path.realpath(_pytest_file()).startswith(os.getcwd() + os.sep):
        # The workspace's own pytest is being debugged: every run must have it as it is at that time.
        sock.send(b'{"never": true}')
        os._exit(0)
    sock.send(b'{"ready": true}')
    return serve(sock)


def serve(sock: socket.socket, foreign: Iterable[str] = ()) -> List[str]:
    """Fork programs on request. Returns only in a forked program, with its arguments.

    `foreign`: modules that a test run must find as if nobody had imported them.
    """
    prctl = ctypes.CDLL(None).prctl
    # As for the guest itself: what runs in the sandbox cannot look into this process or change it.
    prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    gc.enable()
    while True:
        data, ancillary, _, _ = sock.recvmsg(1 << 16, socket.CMSG_SPACE(16 * 4), socket.MSG_CMSG_CLOEXEC)
        if not data:
            os._exit(0)
        fds = array.array("i")
        for _, _, part in ancillary:
            fds.frombytes(part[: len(part) - len(part) % fds.itemsize])
        arguments, expected = json.loads(data)
        _import([*expected, *_NEEDS.get(arguments[0], ())])
        if arguments[0] == "pytest" and prepare(arguments[3:]):
            gc.freeze()
        pid = _fork_orphan()
        if pid is None:
            sock.close()
            if arguments[0] == "pytest":
                for name in foreign:
                    sys.modules.pop(name, None)
            prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
            os.setsid()
            for number, fd in enumerate(fds[:3]):
                os.dup2(fd, number)
                os.close(fd)
            return [arguments[0], str(fds[3]), *arguments[2:]]
        for fd in fds:
            os.close(fd)
        sock.send(json.dumps({"pid": pid} if pid else {}).encode())


def _fork_orphan() -> Optional[int]:
    """Fork twice, so that the new process becomes the guest's child. Returns its id, 0 on failure, None inside it."""
    read_fd, write_fd = os.pipe()
    try:
        middle = os.fork()
    except OSError:
        os.close(read_fd)
        os.close(write_fd)
        return 0
    if middle == 0:
        os.close(read_fd)
        try:
            pid = os.fork()
        except OSError:
            os._exit(1)
        if pid:
            os.write(write_fd, b"%d" % pid)
            os._exit(0)
        os.close(write_fd)
        return None
    os.close(write_fd)
    answer = os.read(read_fd, 32)
    os.close(read_fd)
    os.waitpid(middle, 0)
    return int(answer or b"0")
