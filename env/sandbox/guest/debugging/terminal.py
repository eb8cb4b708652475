"""The guest's side of the terminal: a shell on a pseudo-terminal that lives on from step to step."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import pty
import select
import shutil
import struct
import termios
import time
from typing import Any, Callable, Collection, Dict, List, Optional, Set, Tuple

from ..core.allowance import Allowance
from ..core.files import Refused
from ..core.launcher import Launcher
from ..core.processes import KEPT, Child, HeadTail, descendants, kill_tree
from .blocked import Look, look

ROWS, COLUMNS = 40, 120
MOST_ROWS, MOST_COLUMNS = 200, 400
LONGEST_LINE = 4095
"""The most bytes of a line that a terminal keeps for a program reading whole lines; see termios(3), canonical mode."""
START_PATIENCE_S = 15.0
PATIENCE_S = 1.0
"""How long a program in the foreground must have waited for a line if others in the terminal are still busy."""
WORK_S = 10.0
"""The same if others in the foreground are working, such as a program that a waiting debugger is just starting."""
UNKNOWN_S = 0.5
"""How long all programs must be blocked if the kernel does not say what one of them waits for."""
_LOOK_EVERY_S = (0.002, 0.03)
"""Seconds between looks at the processes: the shortest, right after something was printed, and the longest, later."""
_READ = 1 << 16
_MOST_AT_ONCE = 1 << 20
_PR_SET_CHILD_SUBREAPER = 36

VARIABLES = {
    # The type of the emulator, which supports no alternate screen, no mouse and no bracketed paste.
    "TERM": "linux",
    "PS1": "$ ",
    "PS2": "> ",
    "HISTFILE": "",
    # For programs that would otherwise wait for a key, as if a person were reading.
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "DEBUGINFOD_URLS": "",
}


def take_terminal() -> None:
    """Give the child that becomes the shell its standard input as terminal; detached processes stay below it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def start_shell(launcher: Launcher, slave: int) -> Child:
    """Start the terminal's shell. Raises CannotStart, Refused."""
    shell = shutil.which("bash", path=launcher.env["PATH"])
    if shell is None:
        raise Refused("the terminal needs bash, and the sandbox has none: install it in the task's image")
    # Programs must ask the terminal for its size instead.
    env = {name: value for name, value in launcher.env.items() if name not in ("COLUMNS", "LINES")}
    argv = [shell, "--noprofile", "--norc", "+H", "-i"]  # +H: `!` is an ordinary character, as in a script
    return launcher.spawn(argv, {**env, **VARIABLES}, take_terminal, stdin=slave, stdout=slave, stderr=slave)


class Terminal:
    """At most one shell with its terminal, and everything that was started there."""

    def __init__(self, launch: Callable[[int], Child], lifeline: int = -1) -> None:
        """`launch` starts the shell on a descriptor, as `start_shell` does; `lifeline`: see `processes.run`."""
        self._launch = launch
        self._lifeline = lifeline
        self._shell: Optional[Child] = None
        self._master = self._slave = -1
        self._device = 0
        self._program = ""
        self._why_ended = ""
        self._limit: Optional[Allowance] = None
        self._idle = False

    # ---- life

    def close(self, reason: str = "") -> bool:
        """End the shell and all the terminal's processes; the next step reports `why`. False if there was no shell."""
        if self._shell is None:
            return False
        pids = self._pids()
        KEPT.discard(self._shell.pid)
        kill_tree(pids, self._shell.poll)
        self._shell.wait()
        for fd in (self._master, self._slave):
            os.close(fd)
        self._shell, self._why_ended = None, reason
        return True

    def _start(self) -> None:
        master, slave = pty.openpty()
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        try:
            self._shell = self._launch(slave)
        except BaseException:
            os.close(master)
            os.close(slave)
            raise
        KEPT.add(self._shell.pid)
        os.set_blocking(master, False)
        self._master, self._slave, self._device = master, slave, os.fstat(slave).st_rdev
        self._program = self._executable()

    def _pids(self) -> Set[int]:
        assert self._shell is not None
        return descendants(self._shell.pid) | {self._shell.pid}

    def _executable(self) -> str:
        assert self._shell is not None
        with contextlib.suppress(OSError):
            return os.readlink("/proc/%d/exe" % self._shell.pid)
        return ""

    # ---- one action

    def act(
        self, typed: Optional[List[str]], until: Collection[str], *, timeout_s: float, silence_s: float, cap: int
    ) -> "Tuple[Dict[str, Any], bytes]":
        """Type and wait. If `typed` is None, the same step continues, and so does its time limit.

        Each text of `typed` is typed once a program waits for a line after the text before; a key is typed after a
        second at the latest. Then it waits for one of the events in `until`: `output`, `input` (a program waits for a
        line), `prompt` (the shell does), `silence` (of `silence_s`), `now`; or for `ended` or `time`. Returns the event
        with the state of the terminal, and the output.
        """
        collected = HeadTail(cap)
        started = self._shell is None
        if started:
            self._start()
            limit = Allowance(START_PATIENCE_S, self._pids)
            self._wait(("prompt",), 0, limit, collected)
        if typed is not None or self._limit is None:
            self._limit = Allowance(timeout_s, self._pids)
        untyped = list(typed or ())
        event, too_long = "", False
        while untyped and event not in ("time", "ended"):
            too_long = not self._fits(untyped[0])
            if too_long or not self._type(untyped[0], self._limit, collected):
                break
            untyped.pop(0)
            # A key may be meant for a program that does not wait for a line.
            patience = Allowance(PATIENCE_S, self._pids) if untyped and untyped[0] < " " else self._limit
            event = self._wait(("input", "prompt"), 0, patience, collected) if untyped else ""
            if event == "time" and self._limit.left() > 0:
                event = ""
        if event not in ("time", "ended"):
            event = self._wait(until, silence_s, self._limit, collected)
        output, dropped = collected.take()
        reply = {
            "event": event,
            "untyped": len(untyped),
            "too_long": too_long,
            "started": started,
            "why": self._why_ended if started else "",
            "idle": self._idle,
            "program": "",
            "exit": None,
            "size": [ROWS, COLUMNS],
            "dropped": dropped,
        }
        if started:
            self._why_ended = ""
        if event == "ended":
            assert self._shell is not None
            reply["exit"] = self._shell.returncode
            self.close("its shell had ended")
        else:
            reply["program"], reply["size"] = self._in_front(), self._size()
        return reply, output

    def _type(self, text: str, limit: Allowance, collected: HeadTail) -> bool:
        """Write the whole text, reading the answers meanwhile. Returns False if the time was up before the end."""
        data = text.encode("utf-8", "replace")
        poller = self._poller(select.POLLIN | select.POLLOUT)
        while data and limit.left() > 0:
            self._drain(collected)
            try:
                data = data[os.write(self._master, data) :]
            except BlockingIOError:
                self._pause(poller, 0.05)
        # poll(2) on a terminal first delivers what is on its way to it (n_tty_poll), so that readers are awake now.
        select.select([self._slave], [], [], 0)
        return not data

    def _fits(self, text: str) -> bool:
        canonical = bool(termios.tcgetattr(self._slave)[3] & termios.ICANON)
        return not canonical or max(len(line.encode("utf-8", "replace")) for line in text.split("\r")) <= LONGEST_LINE

    def _drain(self, collected: HeadTail) -> int:
        """Read what was printed so far; return the byte count. Reading first delivers what is pending (n_tty_read)."""
        count = 0
        while count < _MOST_AT_ONCE:
            try:
                data = os.read(self._master, _READ)
            except OSError:  # nothing is there
                break
            collected.write(data)
            count += len(data)
        return count

    def _poller(self, events: int) -> "select.poll":
        poller = select.poll()
        poller.register(self._master, events)
        if self._lifeline >= 0:
            poller.register(self._lifeline, 0)
        return poller

    def _pause(self, poller: "select.poll", seconds: float) -> None:
        for fd, _ in poller.poll(max(seconds, 0) * 1000):
            if fd == self._lifeline:  # the host is gone
                KEPT.clear()
                kill_tree(descendants(os.getpid()))
                os._exit(0)

    def _wait(self, until: Collection[str], silence_s: float, limit: Allowance, collected: HeadTail) -> str:
        """Read until an event; see `act`."""
        assert self._shell is not None
        poller = self._poller(select.POLLIN)
        silence = Allowance(silence_s, self._pids)
        patience: Optional[Allowance] = None  # runs since a foreground program waits and no other one works
        work: Optional[Allowance] = None  # runs since a foreground program waits
        unknown: Optional[Allowance] = None  # runs since all are blocked for an unknown reason
        previous: Optional[Look] = None
        next_look = 0.0
        pause = _LOOK_EVERY_S[0]
        while True:
            got = self._drain(collected)
            if self._shell.poll() is not None:
                self._drain(collected)
                return "ended"
            if got:
                silence = Allowance(silence_s, self._pids)
                previous = unknown = None
                self._idle = False
                pause = _LOOK_EVERY_S[0]
                if "output" in until:
                    return "output"
            if "now" in until:
                return "now"
            if not got or time.monotonic() > next_look:
                next_look = time.monotonic() + 0.1
                current = self._look()
                still = current == previous and not current.busy
                self._idle = still and current.idle
                works = (
                    current.working and previous is not None and previous.working and (work is None or work.left() > 0)
                )
                previous = current
                patience = (patience or Allowance(PATIENCE_S, self._pids)) if current.reading and not works else None
                work = (work or Allowance(WORK_S, self._pids)) if current.reading else None
                unknown = (unknown or Allowance(UNKNOWN_S, self._pids)) if still and current.reading is None else None
                waited = [wait for wait in (patience, unknown) if wait is not None and wait.left() <= 0]
                if (still and current.reading) or waited:
                    event = "prompt" if self._at_prompt(current) else "input"
                    # What they printed before they began to wait may still have been on its way.
                    if event in until and (waited or not self._drain(collected)):
                        return event
            if "silence" in until and not got and silence.left() <= 0:
                return "silence"
            remaining = limit.left()
            if remaining <= 0:
                return "time"
            self._pause(poller, min(remaining, pause))
            pause = min(1.3 * pause, _LOOK_EVERY_S[1])

    def _look(self) -> Look:
        return look(self._pids(), self._foreground(), self._device)

    def _foreground(self) -> int:
        """Return the process group that the terminal belongs to."""
        with contextlib.suppress(OSError):
            return os.tcgetpgrp(self._master)
        return 0

    def _at_prompt(self, current: Look) -> bool:
        """Whether the shell waits, and for a command: its builtin `read` leaves the terminal reading whole lines."""
        assert self._shell is not None
        if self._foreground() != self._shell.pid or current.reader not in (0, self._shell.pid):
            return False
        return not termios.tcgetattr(self._slave)[3] & termios.ICANON and self._executable() == self._program

    def _in_front(self) -> str:
        """Return the name of the program that the terminal belongs to; empty for the shell."""
        assert self._shell is not None
        foreground = self._foreground()
        if foreground == self._shell.pid and self._executable() == self._program:
            return ""
        try:
            with open("/proc/%d/comm" % foreground, encoding="utf-8", errors="replace") as file:
                return file.read().strip()
        except OSError:
            return "a program"

    def _size(self) -> List[int]:
        """Return rows and columns, as programs see them. A size that no screen has is corrected."""
        rows, columns, _, _ = struct.unpack("HHHH", fcntl.ioctl(self._slave, termios.TIOCGWINSZ, b"\0" * 8))
        sound = min(max(rows, 2), MOST_ROWS), min(max(columns, 20), MOST_COLUMNS)
        if sound != (rows, columns):
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", *sound, 0, 0))
        return list(sound)
