"""Forks the sandboxes of one environment, which saves each of them from starting interpreters and importing modules.

Two processes wait, in the mounts of the environment, without any privilege, and nothing of an episode ever runs in
them: this one, with the guest's modules, and a Python that is as ready for tests as it can be before it sees a
workspace (`guest.testing.template`). Each request forks both into the new namespaces of one sandbox, the first as its
process 1. Sandboxes share only memory that was written before the fork; a sandbox that writes there gets its own copy.
"""

from __future__ import annotations

import array
import contextlib
import gc
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

from .namespaces import furnish, give_up, keep_only, leave

_FDS = 4
_PATIENCE_S = 30.0
_CREDENTIALS = struct.Struct("iII")
MARK = "STACKRANK_SANDBOX_OWNER"
GUEST, PYTHON, FAILED = b"guest", b"python", "failed: "


class ForkFailed(Exception):
    """This machine does not let sandboxes be forked. The message says why."""


def serve(zip_fd: int, guest: Callable[[int, Optional[Tuple[int, int]]], None]) -> None:
    """Answer requests on the socket that is standard input, until it closes. Does not return, except in sandboxes.

    The first message has `env` (variables of programs), `root` and `python` (whether a Python that is ready for tests
    is wanted); the answer says whether there is one. Each later message has the `room` of a sandbox
    (`namespaces.furnish`) and its `limits`, and brings the guest's standard descriptors and a socket. On this socket
    each new process says what it is, and the kernel says which process it is; a process that fails says why.
    """
    os.environ.pop(MARK, None)  # by which the host finds this process and those that it forks
    control = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    first = receive(control)[0]
    python = start_python(first, zip_fd) if first["python"] else None
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    control.send(json.dumps({"python": python is not None}).encode())
    while True:
        fork_next(control, python, zip_fd, guest)


def fork_next(control: socket.socket, python: Optional[socket.socket], zip_fd: int, guest: Any) -> None:
    """Take a request and its descriptors, and fork a sandbox. Ends this process if nobody asks any more."""
    request, fds = receive(control)
    if not request:
        os._exit(0)
    fork(request, fds, python, zip_fd, guest)
    for fd in fds:
        os.close(fd)


def start_python(first: Dict[str, Any], zip_fd: int) -> Optional[socket.socket]:
    """Start the Python that is ready for tests; None if it has no pytest."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    package = os.dup(zip_fd)
    environment = {**os.environ, **first["env"]}
    program = shutil.which("python", path=environment["PATH"]) or sys.executable
    subprocess.Popen(
        [program, "/proc/self/fd/%d" % package, "template", str(theirs.fileno())],
        cwd=first["root"], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        pass_fds=(package, theirs.fileno()), start_new_session=True,
    )  # fmt: skip
    theirs.close()
    os.close(package)
    if ours.recv(64):
        return ours
    ours.close()
    return None


def receive(sock: socket.socket) -> Tuple[Dict[str, Any], List[int]]:
    """Receive one message with its descriptors; both are empty if the other side is gone."""
    data, ancillary, _, _ = sock.recvmsg(1 << 16, socket.CMSG_SPACE(4 * _FDS), socket.MSG_CMSG_CLOEXEC)
    fds = array.array("i")
    for _, _, part in ancillary:
        fds.frombytes(part[: len(part) - len(part) % fds.itemsize])
    return (json.loads(data) if data else {}), list(fds)


def send(sock: socket.socket, message: Dict[str, Any], fds: List[int]) -> None:
    """Send one message with descriptors."""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds).tobytes())]
    sock.sendmsg([json.dumps(message).encode()], rights)


def fork(request: Dict[str, Any], fds: List[int], python: Optional[socket.socket], zip_fd: int, guest: Any) -> None:
    """Fork one sandbox. Returns in the factory only.

    Its two processes are made at the same time: the Python is forked while the namespaces are made, and joins them
    while they are furnished.
    """
    tells = socket.socket(fileno=os.dup(fds[3]))
    guest_end, python_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    read_fd, write_fd = os.pipe()
    if python:
        send(python, request, [python_end.fileno(), tells.fileno(), read_fd])
    python_end.close()
    middle = os.fork()
    if middle == 0:
        with reporting_failure(tells):
            leave()
            first = os.fork()
            if first:
                os.write(write_fd, b"%d" % first)
                os._exit(0)
            os.close(write_fd)
            furnish(request["room"])
            give_up()
            os.setsid()
            for number, fd in enumerate(fds[:3]):
                os.dup2(fd, number)
            tells.send(GUEST)
            python_pid = b""
            if python:
                # The Python can join only as long as this process lets others look into it.
                with contextlib.suppress(OSError):
                    guest_end.send(b"furnished")
                    python_pid = guest_end.recv(16)
                if not python_pid:
                    os._exit(1)  # the Python is gone, and so is this factory
            keep_only({zip_fd, guest_end.fileno()} if python else {zip_fd})
            _take_code(zip_fd)
            guest(zip_fd, (guest_end.detach(), int(python_pid)) if python else None)
    os.close(read_fd)
    os.close(write_fd)
    os.waitpid(middle, 0)
    guest_end.close()
    tells.close()


def await_processes(receiver: socket.socket, programs: Set[bytes]) -> Dict[bytes, int]:
    """Return what each new process says it is, with its process id as seen from here. Raises ForkFailed and OSError.

    `receiver`: the other end of the socket that `fork` was given, with SO_PASSCRED.
    """
    pids: Dict[bytes, int] = {}
    deadline = time.monotonic() + _PATIENCE_S
    while pids.keys() != programs:
        receiver.settimeout(max(deadline - time.monotonic(), 0.001))
        program, ancillary, _, _ = receiver.recvmsg(4096, socket.CMSG_SPACE(_CREDENTIALS.size))
        if program.startswith(FAILED.encode()):
            raise ForkFailed(program.decode("utf-8", "replace")[len(FAILED) :])
        if program not in programs:
            raise OSError("it ended")
        for _, kind, data in ancillary:
            if kind == socket.SCM_CREDENTIALS:
                pids[program] = _CREDENTIALS.unpack(data)[0]
    return pids


def _take_code(zip_fd: int) -> None:
    """Read the guest's code, as every guest does, into a file that no other sandbox has."""
    size = b""
    while not size.endswith(b"\n"):
        part = os.read(0, 1)
        if not part:
            os._exit(0)
        size += part
    remaining = int(size)
    copy_fd = os.memfd_create("guest", os.MFD_CLOEXEC)
    while remaining:
        part = os.read(0, remaining)
        if not part:
            os._exit(0)
        remaining -= len(part)
        while part:
            part = part[os.write(copy_fd, part) :]
    os.dup2(copy_fd, zip_fd, inheritable=False)
    os.close(copy_fd)


@contextlib.contextmanager
def reporting_failure(tells: socket.socket) -> Iterator[None]:
    """Report what goes wrong in a forked process, and end it: it must never go on as another factory."""
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(OSError):
            tells.send((FAILED + "%s: %s" % (type(error).__name__, error)).encode())
        os._exit(1)
