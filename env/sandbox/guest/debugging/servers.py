"""Programs that run alongside the commands and exchange lines over their standard input and output."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from typing import Any, Dict, List, Set, Tuple

from ..core.allowance import Allowance
from ..core.files import Refused
from ..core.launcher import Launcher
from ..core.processes import KEPT, CannotStart, HeadTail, descendants, kill_tree

_COMPLAINTS = 8 << 10
"""Bytes of standard error that are kept."""
_PIPE = 1 << 20
"""Bytes of standard error that a pipe holds while nobody talks to a server; a server that writes more has to wait."""
_F_SETPIPE_SZ = 1031


class Server:
    """A single server."""

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        assert child.stdin is not None and child.stdout is not None and child.stderr is not None
        self._child = child
        self._in, self._out, self._err = child.stdin.fileno(), child.stdout.fileno(), child.stderr.fileno()
        self._unsent = b""
        self._received = b""
        self._complaints = HeadTail(_COMPLAINTS)
        self._open: Set[int] = {self._out, self._err}
        for fd in (self._in, self._out, self._err):
            os.set_blocking(fd, False)
        with contextlib.suppress(OSError, ImportError):  # more than a user is allowed
            import fcntl

            fcntl.fcntl(self._err, _F_SETPIPE_SZ, _PIPE)
        KEPT.add(child.pid)

    def exchange(self, data: bytes, timeout_s: float, cap: int, lifeline: int) -> Tuple[Dict[str, Any], bytes]:
        """Send `data`, and wait for a whole line, the end of the program, more than `cap` bytes, or the time limit.

        Returns what happened (`ended`: nothing more will come; `exit`; `timed_out`; `flooded`; `used_s`: seconds of
        the time limit; `complaints`: what it wrote to standard error, if something went wrong) and the lines.
        """
        self._unsent += data
        limit = Allowance(timeout_s, lambda: {self._child.pid, *descendants(self._child.pid)})
        timed_out = False
        while b"\n" not in self._received and len(self._received) <= cap and self._out in self._open:
            remaining = limit.left()
            if remaining <= 0:
                timed_out = True
                break
            self._pump(min(remaining, 0.5), lifeline)
        flooded = len(self._received) > cap
        complete = len(self._received) if self._out not in self._open else self._received.rfind(b"\n") + 1
        lines, self._received = self._received[:complete], self._received[complete:]
        header: Dict[str, Any] = {"ended": self._out not in self._open, "timed_out": timed_out, "flooded": flooded}
        header["used_s"] = limit.used_s()
        header["exit"] = self._status() if header["ended"] else None
        header["complaints"] = ""
        if header["ended"] or timed_out or flooded:
            header["complaints"] = self._complaints.take()[0].decode("utf-8", "replace")
        return header, lines[:cap]

    def _pump(self, seconds: float, lifeline: int) -> None:
        poller = select.poll()
        for fd in self._open:
            poller.register(fd, select.POLLIN)
        if self._unsent:
            poller.register(self._in, select.POLLOUT)
        if lifeline >= 0:
            poller.register(lifeline, 0)
        for fd, _ in poller.poll(seconds * 1000):
            if fd == lifeline:  # nobody waits for an answer any more
                KEPT.clear()
                kill_tree(descendants(os.getpid()))
                os._exit(0)
            if fd == self._in:
                self._send()
            else:
                self._take(fd)

    def _send(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._in, self._unsent[: 1 << 16]) :]
        except BlockingIOError:
            pass
        except OSError:  # the server reads no more, but it may still write
            self._unsent = b""

    def _take(self, fd: int) -> None:
        try:
            data = os.read(fd, 1 << 18)
        except BlockingIOError:
            return
        if not data:
            self._open.discard(fd)
        elif fd == self._out:
            self._received += data
        else:
            self._complaints.write(data)

    def _status(self) -> Any:
        """Return the exit status, once all of standard error was read; None if the server only closed its output."""
        until = time.monotonic() + 1.0
        while time.monotonic() < until and (self._child.poll() is None or self._err in self._open):
            if self._err in self._open:
                self._pump(0.05, -1)
            else:
                time.sleep(0.005)
        return self._child.poll()

    def stop(self) -> None:
        """End the server and everything that it started."""
        KEPT.discard(self._child.pid)
        kill_tree({self._child.pid, *descendants(self._child.pid)}, collect=self._child.poll)
        for stream in (self._child.stdin, self._child.stdout, self._child.stderr):
            assert stream is not None
            with contextlib.suppress(OSError):
                stream.close()


class Servers:
    """The servers of a sandbox, by name."""

    def __init__(self, launcher: Launcher, lifeline: int) -> None:
        self._launcher = launcher
        self._lifeline = lifeline
        self._all: Dict[str, Server] = {}

    def start(self, name: str, argv: List[str], env: Dict[str, str], prefix: str, traces: bool) -> None:
        """Start a server, or restart it; `prefix`: the folder of its packages; `traces`: it is a debugger.

        Raises Refused.
        """
        self.stop(name)
        # The task's Python gets a name of its own, because the server's comes first on the path.
        env = {**self._launcher.env, "TASK_PYTHON": self._launcher.python, **env}
        if prefix:
            env["PATH"] = os.path.join(prefix, "bin") + ":" + env["PATH"]
        pipe = subprocess.PIPE
        last = (lambda: None) if traces else None  # in place of the filter against debuggers
        try:
            self._all[name] = Server(self._launcher.spawn(argv, env, last, stdin=pipe, stdout=pipe, stderr=pipe))
        except CannotStart as error:
            raise Refused(str(error)) from None

    def exchange(self, name: str, data: bytes, timeout_s: float, cap: int) -> Tuple[Dict[str, Any], bytes]:
        """See `Server.exchange`."""
        return self._all[name].exchange(data, timeout_s, cap, self._lifeline)

    def stop(self, name: str) -> None:
        """End a server, if there is one of that name."""
        server = self._all.pop(name, None)
        if server is not None:
            server.stop()
