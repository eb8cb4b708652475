"""The stream that pdb uses in place of a terminal, and the program's standard input."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import socket
import sys
from typing import Any, Callable, Dict, List, Optional

from ...core.processes import HeadTail

OUTPUT_CAP = 64 << 10
INTERRUPT = signal.SIGRTMIN + 7
"""The signal that the guest sends when a command has used up its time. Programs do not use it themselves."""


class Control(io.TextIOBase):
    """pdb's standard input and output: each time pdb reads a line, a report is sent first."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock: Optional[socket.socket] = sock
        self._lines = sock.makefile("rb")
        self._printed = HeadTail(OUTPUT_CAP)
        self.where: Callable[[], Dict[str, Any]] = dict
        """The function that says where the program stands. The debugger sets it."""
        self.notes: List[str] = []
        self.value_limit = 1000
        """How many characters of one value are shown."""
        self.time_limit = ""
        """How long a command may take, in words."""
        self.waiting = False
        """Whether a report was sent and the next command has not arrived yet. An interrupt then comes too late."""

    def request(self) -> Dict[str, Any]:
        """Return the next line from the guest. Ends the process if the guest is gone."""
        line = self._lines.readline() if self._sock is not None else b""
        if not line:
            os._exit(0)
        request: Dict[str, Any] = json.loads(line)
        return request

    def note(self, text: str) -> None:
        """Add a sentence of the debugger's own to the next report, once."""
        if text not in self.notes:
            self.notes.append(text)

    def write(self, text: str) -> int:
        """Collect what pdb prints."""
        self._printed.write(text.encode("utf-8", "replace"))
        return len(text)

    def flush(self) -> None:
        """Do nothing: output is only buffered until the report."""

    def send(self, record: Dict[str, Any]) -> None:
        """Send the record to the guest, with what was printed."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        text, _ = self._printed.take()
        record["text"] = text.decode("utf-8", "replace")
        record["notes"], self.notes = self.notes, []
        if self._sock is not None:
            self._sock.sendall(json.dumps(record).encode("utf-8", "replace") + b"\n")

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        """Report, then wait for the guest's next command."""
        location = self.where()
        self.waiting = True
        self.send({"stop": location})
        request = self.request()
        command: str = request["command"]
        self.value_limit = request.get("value_limit", self.value_limit)
        self.time_limit = request.get("stated_limit", self.time_limit)
        self.waiting = False
        return command + "\n"

    def abandon(self) -> None:
        """Close the channel in a child that the program forked: it must not take the debugger's commands."""
        if self._sock is not None:
            os.close(self._sock.detach())
            self._sock = None


class EmptyInput(io.TextIOBase):
    """The program's standard input, which is empty. The first read adds a note to the report."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._said = False

    def readable(self) -> bool:
        """Return True: the input can be read, and is empty."""
        return True

    def fileno(self) -> int:
        """Return the descriptor of the null device."""
        return 0

    def _end(self) -> str:
        if not self._said:
            self._said = True
            self._control.notes.append("the program read from standard input, which is empty (EOF)")
        return ""

    def read(self, size: Optional[int] = -1) -> str:
        """Return the end of the file."""
        return self._end()

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        """Return the end of the file."""
        return self._end()
