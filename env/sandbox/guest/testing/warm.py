"""A Python with pytest imported, which waits for requests to fork programs; `guest.core.warm_python` makes them.

Code of the workspace never runs in the warm process itself. A verdict's run is forked only from one that came with its
sandbox from a factory (see `guest.core.factory`).
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import gc
import importlib
import json
import os
import socket
import sys
from typing import Dict, Iterable, List, Optional

from .prepared import prepare, prepare_usual

TEST_RUNS = ("pytest", "eval")
"""The programs that run tests."""
_PR_SET_DUMPABLE = 4


def preload() -> None:
    """Import what a test run would import before it looks at the workspace."""
    from . import pytest_child

    pytest_child.preload()
    for name in ("_pytest._argcomplete", "difflib", "faulthandler", "readline"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    _index()


def _index() -> None:
    """Let `inspect` look at all loaded modules now. Else it does so in each run, for pytest's first traceback."""
    import inspect

    inspect.getmodule(sys._getframe())


def preload_all(programs: Iterable[str]) -> List[str]:
    """Import all modules of the guest's programs. Returns the modules that a test run would not have imported."""
    preload()
    prepare_usual()
    test_modules = set(sys.modules)
    for name in programs:
        importlib.import_module(name)
    _index()
    # ctypes stays: a second copy of it would have other types.
    return [name for name in {*sys.modules} - test_modules | {"sysconfig"} if not name.startswith("guest.")]


def _import(names: List[str]) -> None:
    """Import the modules that are not there yet, so that forked processes have them."""
    missing = [name for name in names if name not in sys.modules]
    for name in missing:
        with contextlib.suppress(ImportError):  # the program that needs it reports that
            importlib.import_module(name)
    if missing:
        _index()
        gc.freeze()


def _pytest_file() -> str:
    import pytest

    return pytest.__file__ or ""


def main(argv: List[str], programs: Dict[str, str]) -> List[str]:
    """Wait for requests to fork one of the programs. Returns only in a forked child, with its arguments."""
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
    return serve(sock, programs)


def serve(sock: socket.socket, programs: Dict[str, str], foreign: Iterable[str] = ()) -> List[str]:
    """Fork programs on request. Returns only in a forked program, with its arguments.

    `programs`: name -> module.
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
        _import([*expected, programs[arguments[0]]])
        if arguments[0] in TEST_RUNS and prepare(arguments[2:]):
            gc.freeze()
        pid = _fork_orphan()
        if pid is None:
            sock.close()
            if arguments[0] in TEST_RUNS:
                for name in foreign:
                    sys.modules.pop(name, None)
            prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
            os.setsid()
            for number, fd in enumerate(fds[:3]):
                os.dup2(fd, number)
                os.close(fd)
            return [arguments[0], ",".join(map(str, fds[3:])), *arguments[1:]]
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
