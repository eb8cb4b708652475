"""Finds the syntax errors of Python files, in a process of its own, because a parser can be crashed.

The process is forked for the first file, and stays: a fork of the guest takes longer than to parse a file.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import warnings
from typing import NoReturn, Optional, Tuple

from .messages import message
from .processes import KEPT, expendable

_PATIENCE_S = 5.0
_LONGEST = 1 << 16
"""The most bytes of a path, or of an answer."""

_OPEN_FILES = 1024
"""More than the guest has open; the host's channel is among them."""


class Parser:
    """The parsing process, which is started when it is needed."""

    def __init__(self) -> None:
        self._process: Optional[Tuple[int, socket.socket]] = None

    def syntax_error(self, real: str) -> Optional[str]:
        """Return a Python file's syntax error in one line, or None."""
        was_running = self._process is not None
        answer = self._ask(real)
        if answer is None and was_running:  # a program of the sandbox may have ended it
            answer = self._ask(real)
        if answer is None:
            return message("the file could not be parsed")
        return answer.decode("utf-8", "replace") or None

    def _ask(self, real: str) -> Optional[bytes]:
        """Return what the process says of a file, or None if it dies of it or takes too long."""
        try:
            self._process = self._process or _start()
            connection = self._process[1]
            connection.send(os.fsencode(real))
            if select.select([connection], [], [], _PATIENCE_S)[0]:
                answer = connection.recv(_LONGEST)
                if answer:
                    return answer[1:]
        except OSError:
            pass
        self._end()
        return None

    def _end(self) -> None:
        if self._process is not None:
            pid, connection = self._process
            connection.close()
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            KEPT.discard(pid)
            self._process = None


def _start() -> Tuple[int, socket.socket]:
    """Fork the process. Raises OSError if no process is left."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        try:
            with expendable():
                pid = os.fork()
        except OSError:
            ours.close()
            raise
        if pid == 0:
            _serve(theirs)
    KEPT.add(pid)
    return pid, ours


def _serve(connection: socket.socket) -> NoReturn:
    """Answer with a `=` and the syntax error, until the other side is gone."""
    try:
        os.dup2(connection.fileno(), 0)
        os.closerange(3, _OPEN_FILES)
        warnings.simplefilter("ignore")  # a file can have more of them than standard error takes
        while True:
            path = os.read(0, _LONGEST)
            if not path:
                break
            os.write(0, b"=" + _syntax_error(path)[: _LONGEST - 1])
    finally:
        os._exit(0)


def _syntax_error(path: bytes) -> bytes:
    try:
        with open(path, "rb") as file:
            compile(file.read(), os.path.basename(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        problem = getattr(error, "msg", str(error))
        line = getattr(error, "lineno", None)
        return ("%s: %s (line %s)" % (type(error).__name__, problem, line)).encode("utf-8", "replace")
    return b""
