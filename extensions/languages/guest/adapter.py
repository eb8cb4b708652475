"""What a session needs of a debugger, whatever protocol it speaks."""

from __future__ import annotations

import contextlib
import os
import queue
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from typing import IO, Any

from stackrank.env.sandbox.guest.core.processes import HeadTail, descendants

LONGEST_NAME = 4096
"""Characters that are kept of the name of a file or a function: a program can make up any."""
MOST_OUTPUT = 24 << 10
"""Bytes of a program's output that are kept of one action, from its head and its tail."""


_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class AdapterError(Exception):
    """The debugger refused a request; the message is for the agent."""


class AdapterLost(Exception):
    """The debugger, or the debugged program, is gone; the message says how."""


class Stop:
    """Why the program stands, or how it ended."""

    def __init__(self, event: str, text: str = "", thread: int = 0, status: int = 0) -> None:
        """`event`: line, call, return, exception, interrupted, or finished."""
        self.event, self.text, self.thread, self.status = event, text, thread, status


class Frame:
    """One call."""

    def __init__(self, identity: Any, file: str, line: int, function: str, data: Any = None) -> None:
        self.identity, self.line, self.data = identity, line, data
        self.file, self.function = file[:LONGEST_NAME], function[:LONGEST_NAME]


class Output:
    """What a program printed; the middle is dropped if it is much."""

    def __init__(self) -> None:
        self._kept = HeadTail(MOST_OUTPUT)

    def write(self, text: str) -> None:
        """Add text."""
        self._kept.write(text.encode("utf-8", "replace"))

    def take(self) -> tuple[str, int]:
        """Return the text since the last call, and how many bytes of it are missing."""
        data, dropped = self._kept.take()
        return _COLOURS.sub("", data.decode("utf-8", "replace")).replace("\r\n", "\n"), dropped


class Adapter:
    """A debugger and the program that it debugs."""

    def __init__(self) -> None:
        self.output = Output()
        self.functions: dict[str, str] = {}
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._child: subprocess.Popen[bytes] | None = None
        self._readers: list[threading.Thread] = []

    # ---- what each protocol provides

    def start(self, launch: dict[str, Any], points: list[Any], deadline: float) -> None:
        """Start the program. Raises AdapterError, AdapterLost."""
        raise NotImplementedError

    def set_points(self, points: list[Any]) -> None:
        """Replace all breakpoints. Where the debugger moves one, its line changes."""
        raise NotImplementedError

    def resume(self, how: str, thread: int) -> None:
        """Continue: `continue`, `next`, `stepIn` or `stepOut`."""
        raise NotImplementedError

    def interrupt(self, thread: int) -> None:
        """Ask the program to pause wherever it is."""
        raise NotImplementedError

    def stop_of(self, message: dict[str, Any]) -> Stop | None:
        """Return what a message says about the program's standing; None if nothing."""
        raise NotImplementedError

    def stack(self, thread: int) -> list[Frame]:
        """Return the calls, innermost first."""
        raise NotImplementedError

    def threads(self) -> list[int]:
        """Return the threads that may have calls of the workspace; none if there is only one."""
        return []

    def variables(self, frame: Frame) -> dict[str, str]:
        """Return the local variables of a call."""
        raise NotImplementedError

    def evaluate(self, expression: str, frame: Frame | None) -> str:
        """Return the value of an expression. Raises AdapterError."""
        raise NotImplementedError

    def watch(self, expression: str, frame: Frame) -> Any:
        """Return what makes the program stop when a variable changes. Raises AdapterError."""
        raise AdapterError("this language's debugger cannot watch a variable")

    # ---- what they share

    def wait(self, deadline: float) -> Stop | None:
        """Wait until the program stands or has ended; None if the time is up. Raises AdapterLost."""
        while True:
            message = self.read(deadline)
            if message is None:
                return None
            stop = self.stop_of(message)
            if stop is not None:
                return stop

    def read(self, deadline: float) -> dict[str, Any] | None:
        """Return the next message; None if the time is up. Raises AdapterLost."""
        try:
            message = self._messages.get(timeout=max(deadline - time.monotonic(), 0.001))
        except queue.Empty:
            return None
        if message is None:
            self._messages.put(None)
            raise AdapterLost(self.describe_end())
        return message

    def describe_end(self) -> str:
        """Say how the debugger ended."""
        status = None
        if self._child is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = self._child.wait(2)
        if status is None:
            return "the debugger closed its connection"
        return "the debugger ended " + ("by signal %d" % -status if status < 0 else "with status %d" % status)

    def receive_with(self, receive: Callable[[], dict[str, Any] | None]) -> None:
        """Receive messages in a thread of its own, until there are no more."""

        def work() -> None:
            try:
                while True:
                    message = receive()
                    if message is None:
                        break
                    self._messages.put(message)
            except (OSError, ValueError):
                pass
            self._messages.put(None)

        threading.Thread(target=work, daemon=True).start()

    def copy_output(self, stream: IO[bytes], keep: Callable[[str], str] = lambda text: text) -> None:
        """Take what the program prints to a stream, in a thread of its own. `keep` leaves out what it did not print."""

        def work() -> None:
            while True:
                data = stream.read1(1 << 16)  # type: ignore[attr-defined]
                if not data:
                    return
                self.output.write(keep(data.decode("utf-8", "replace")))

        reader = threading.Thread(target=work, daemon=True)
        self._readers.append(reader)
        reader.start()

    def spawn(self, argv: list[str], **options: Any) -> subprocess.Popen[bytes]:
        """Start a process in a group of its own, which `close` ends. Raises AdapterLost."""
        try:
            self._child = subprocess.Popen(argv, start_new_session=True, **options)
        except OSError as error:
            raise AdapterLost("%s cannot be started: %s" % (argv[0], error.strerror)) from None
        return self._child

    def close(self) -> None:
        """End the debugger and the program."""
        if self._child is None:
            return
        # A debugger may start its program in a group of its own, or end before it: both, the tree and the group, end.
        with contextlib.suppress(OSError):
            os.killpg(self._child.pid, signal.SIGKILL)
        while True:
            pids = descendants(self._child.pid) | ({self._child.pid} if self._child.poll() is None else set())
            for pid in pids:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if not pids or self._child.poll() is not None:
                break
            time.sleep(0.005)
        self._child.wait()
        for reader in self._readers:
            reader.join(1)
