"""The program of a container in which sandboxes are played one after another; see decision 25.

Each of them is forked into namespaces of its own, as a factory does it. Nothing of an episode runs outside of these
namespaces, so what a sandbox leaves ends with it. This program passes bytes between its guest and the host. Another
process forks, so that no sandbox begins with a copy of memory that bytes of an earlier one went through. The limits of
the container are those of the sandbox, because there is one at a time.

Both sides send messages: a kind, the length of the content, the content.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import struct
import time
from typing import Any, Callable, Dict, List, NoReturn, Optional, Set, Tuple

from .factory import GUEST, PYTHON, ForkFailed, await_processes, fork_next, receive, send, start_python
from .seccomp import is_known

HEADER = struct.Struct("!cI")
START, CODE, DATA, END, USED = b"s", b"c", b"d", b"e", b"u"
"""START asks for a sandbox, and says why there is none. CODE stands for the guest's code, which is here already. END
asks for the end of the sandbox, and says that it has ended. USED asks for the seconds of a processor that it used."""
_CHUNK = 1 << 16
_CONTROL_GROUP = "/sys/fs/cgroup"
"""What the control group of the container counts. Format: cgroup-v1/memory.rst and cgroup-v2.rst of Linux."""
_PATIENCE_S = 1.0
"""How long the kernel may take to free the memory of a sandbox that has ended."""
_LITTLE = 8 << 20
"""Bytes that may be in use after a sandbox and were not before: this program's own."""


def serve(zip_fd: int, guest: Callable[[int, Optional[Tuple[int, int]]], None]) -> None:
    """Answer messages until the host is gone. The content of the first START is as in `factory.serve`."""
    Berth(zip_fd, guest).serve()


class Berth:
    """Has at most one sandbox at a time."""

    def __init__(self, zip_fd: int, guest: Callable[[int, Optional[Tuple[int, int]]], None]) -> None:
        self._zip_fd = zip_fd
        self._guest = guest
        self._others: Set[int] = set()
        self._played = 0
        self._pid = 0
        self._to_guest = self._from_guest = -1
        self._for_guest, self._for_host = bytearray(), bytearray()
        self._used_before_s = 0.0
        self._held_before = 0

    def serve(self) -> None:
        """Answer messages. Does not return."""
        os.set_blocking(1, False)
        kind, first = self._receive()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._forker = _start_forker(first, self._zip_fd, self._guest)
        self._say(kind, "" if is_known() else "there is no filter of system calls for this machine")
        while True:
            # What the host has not taken yet keeps the guest from saying more.
            readers = [0, self._from_guest] if self._pid and not self._for_host else [0]
            writers = [1] if self._for_host else []
            if self._for_guest:
                writers.append(self._to_guest)
            readable, writable, _ = select.select(readers, writers, [])
            if 1 in writable:
                del self._for_host[: os.write(1, self._for_host)]
            if self._to_guest in writable:
                self._feed()
            if self._from_guest in readable:
                data = os.read(self._from_guest, _CHUNK)
                if data:
                    self._send(DATA, data)
                else:
                    self._end()
            if 0 in readable:
                self._obey()

    def _obey(self) -> None:
        kind, content = self._receive()
        if kind == START:
            self._start(content)
        elif kind == USED:
            self._say(USED, _used_s() - self._used_before_s)
        elif self._pid and kind in (CODE, DATA):
            self._for_guest += content if kind == DATA else self._code()
            self._feed()
        elif self._pid and kind == END:
            self._end()

    def _code(self) -> bytes:
        size = os.fstat(self._zip_fd).st_size
        return b"%d\n" % size + os.pread(self._zip_fd, size, 0)

    def _feed(self) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                del self._for_guest[: os.write(self._to_guest, self._for_guest)]
            except BrokenPipeError:
                self._end()

    def _start(self, request: Any) -> None:
        try:
            # A Python that is ready takes 30 MB, which is too much for a berth that plays only one sandbox.
            send(self._forker, {"python": self._played == 1}, [])
            programs = {GUEST, PYTHON} if receive(self._forker)[0].get("python") else {GUEST}
        except OSError:
            self._leave()  # the process that forks is gone; the host starts another container
        self._played += 1
        self._others = _pids()
        self._used_before_s = _used_s()
        self._held_before = _held_bytes()
        for_guest, self._to_guest = os.pipe()
        self._from_guest, from_guest = os.pipe()
        receiver, sender = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        os.set_blocking(self._to_guest, False)
        try:
            send(self._forker, request, [for_guest, from_guest, 2, sender.fileno()])
            os.close(for_guest)
            os.close(from_guest)
            sender.close()
            pids = await_processes(receiver, programs)
        except (ForkFailed, OSError) as error:
            self._say(START, str(error))
            self._leave()
        finally:
            receiver.close()
        self._pid = pids[GUEST]
        self._say(START, "")

    def _end(self) -> None:
        """End the sandbox, of which nothing is left when this returns."""
        os.kill(self._pid, signal.SIGKILL)
        # The first process of a pid namespace ends last. Some of the others are children of this program by now.
        while os.waitpid(-1, 0)[0] != self._pid:
            pass
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if _pids() != self._others or not self._is_freed():
            self._leave()  # and with it the container
        os.close(self._to_guest)
        os.close(self._from_guest)
        self._pid, self._to_guest, self._from_guest = 0, -1, -1
        self._for_guest.clear()
        self._say(END, "")

    def _is_freed(self) -> bool:
        """Wait until the memory of the sandbox is free: the kernel frees some of it after the processes have ended.

        The next sandbox would have less, and its programs would be killed.
        """
        deadline = time.monotonic() + _PATIENCE_S
        while _held_bytes() > self._held_before + _LITTLE:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.002)
        return True

    def _leave(self) -> NoReturn:
        """End this container, after what was said."""
        os.set_blocking(1, True)
        while self._for_host:
            del self._for_host[: os.write(1, self._for_host)]
        os._exit(0)

    def _receive(self) -> Tuple[bytes, Any]:
        """Return the kind and the content of a message: bytes for the guest, or JSON for this program."""
        kind, length = HEADER.unpack(_exactly(HEADER.size))
        content = _exactly(length)
        return kind, content if kind == DATA else json.loads(content)

    def _say(self, kind: bytes, content: Any) -> None:
        self._send(kind, json.dumps(content).encode())

    def _send(self, kind: bytes, content: bytes) -> None:
        self._for_host += HEADER.pack(kind, len(content)) + content
        with contextlib.suppress(BlockingIOError):
            del self._for_host[: os.write(1, self._for_host)]


def _exactly(size: int) -> bytes:
    parts: List[bytes] = []
    while size:
        part = os.read(0, min(size, 1 << 20))
        if not part:
            os._exit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _pids() -> Set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def _start_forker(first: Dict[str, Any], zip_fd: int, guest: Any) -> socket.socket:
    """Start the process that forks sandboxes. It is told whether to start a Python first, and answers if there is one.

    Then it takes a request with descriptors, as `factory.serve` does. It ends with this process.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    gc.collect()
    gc.freeze()
    if os.fork():
        theirs.close()
        return ours
    ours.close()
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):  # which are the host's
        os.dup2(null, number)
    os.close(null)
    python: Optional[socket.socket] = None
    while True:
        if receive(theirs)[0].get("python") and first["python"]:
            python = start_python(first, zip_fd)
        with contextlib.suppress(BrokenPipeError):  # if the other process is gone
            send(theirs, {"python": python is not None}, [])
        fork_next(theirs, python, zip_fd, guest)


def _used_s() -> float:
    """Return the processor seconds that were used; 0 if the control group cannot be seen."""
    with contextlib.suppress(OSError):
        return int(_read("/cpuacct/cpuacct.usage")) / 1e9
    with contextlib.suppress(OSError):
        return _numbers(_own() + "/cpu.stat")["usage_usec"] / 1e6
    return 0.0


def _held_bytes() -> int:
    """Return the memory that the kernel cannot take back: all but pages of files; 0 if it cannot be seen."""
    with contextlib.suppress(OSError):
        numbers = _numbers("/memory/memory.stat")
        return int(_read("/memory/memory.usage_in_bytes")) - numbers["cache"] + numbers["shmem"]
    with contextlib.suppress(OSError):
        numbers = _numbers(_own() + "/memory.stat")
        reclaimable = numbers["file"] - numbers["shmem"] + numbers["slab_reclaimable"]
        return int(_read(_own() + "/memory.current")) - reclaimable
    return 0


def _own() -> str:
    with open("/proc/self/cgroup") as file:
        return [line.split(":", 2)[2].strip() for line in file][-1]  # the last line is version 2's


def _read(path: str) -> str:
    with open(_CONTROL_GROUP + path) as file:
        return file.read()


def _numbers(path: str) -> Dict[str, int]:
    return {name: int(number) for name, number in map(str.split, _read(path).splitlines())}
