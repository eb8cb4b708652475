"""Tells from /proc what the processes of a session wait for: whether anything can still happen without typed input."""

from __future__ import annotations

import contextlib
import os
import platform
import struct
from typing import Dict, Iterable, List, NamedTuple, Optional

# Call that blocks a thread -> how its descriptors are found: https://docs.kernel.org/filesystems/proc.html (syscall).
_CALLS: Dict[str, Dict[int, str]] = {
    "x86_64": {0: "read", 19: "read", 7: "poll", 271: "poll", 219: "poll", 23: "select", 270: "select",
               232: "epoll", 281: "epoll", 441: "epoll", 61: "others", 247: "others", 202: "futex"},
    "aarch64": {63: "read", 65: "read", 73: "poll", 128: "poll", 72: "select", 22: "epoll", 441: "epoll",
                260: "others", 95: "others", 98: "futex"},
}  # fmt: skip
_TTY = os.makedev(5, 0)  # /dev/tty: the terminal that controls the process, whichever it is
_POLLIN = 1
_MOST_DESCRIPTORS = 4096


class Look(NamedTuple):
    """The processes of a session at one moment."""

    reading: Optional[bool]
    """Whether a process in the foreground waits for the terminal; None if the kernel does not say."""
    reader: int
    """The id of that process; 0 if there is none."""
    busy: bool
    """Whether a thread runs, is ready to run, or waits for a disk."""
    working: bool
    """Whether a thread in the foreground does so."""
    idle: bool
    """Whether all processes only wait for the terminal and each other: without a key nothing will ever happen."""
    ran: Dict[str, str]
    """Thread -> how much it has run. If this is equal at two looks, the thread did not run between them."""


def look(pids: Iterable[int], foreground: int, terminal: int, proc: str = "/proc") -> Look:
    """Look at processes; `foreground`: the process group that may read; `terminal`: the terminal's device number.

    If two looks in a row are equal and find no process busy, there was a moment at which all were blocked.
    """
    reading: Optional[bool] = False
    reader = 0
    busy, working, idle = False, False, True
    ran: Dict[str, str] = {}
    for pid in sorted(pids):
        process = "%s/%d" % (proc, pid)
        for task in _tasks(process + "/task"):
            try:
                fields = _text(task + "/stat").rpartition(")")[2].split()
            except OSError:
                continue  # it has just ended
            state, group = fields[0], int(fields[2])
            busy = busy or state in "RD"
            working = working or (state in "RD" and group == foreground)
            ran[task] = " ".join(fields[11:13])  # processor time, if the kernel gives nothing finer
            with contextlib.suppress(OSError):
                ran[task] += _text(task + "/schedstat")
            if state in "TtZX":
                continue
            call = _call(task)
            waits = None if call is None else _waits_for(call, process, terminal)
            idle = idle and bool(waits or (call and _for_others(call)))
            if group != foreground or reader:
                continue
            if waits:
                reading, reader = True, pid
            elif waits is None:
                reading = None
    return Look(reading, reader, busy, working, idle, ran)


def _tasks(folder: str) -> Iterable[str]:
    try:
        return ["%s/%s" % (folder, task) for task in os.listdir(folder)]
    except OSError:
        return ()


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


class _Call(NamedTuple):
    """A system call that a thread is blocked in."""

    kind: str
    arguments: List[int]


def _call(task: str) -> Optional[_Call]:
    """Return the system call that a thread is blocked in; None if the kernel does not say."""
    try:
        words = _text(task + "/syscall").split()
        if words[0] == "running" or int(words[0]) < 0:
            return _Call("", [])
        return _Call(_CALLS.get(platform.machine(), {}).get(int(words[0]), ""), [int(word, 16) for word in words[1:7]])
    except (OSError, IndexError, ValueError):
        return None


def _for_others(call: _Call) -> bool:
    """Whether a thread waits for processes or threads that it started, without a time limit."""
    return call.kind == "others" or (call.kind == "futex" and not call.arguments[3])


def _waits_for(call: _Call, process: str, terminal: int) -> Optional[bool]:
    """Whether a thread is blocked until the terminal can be read; None if the kernel does not say."""
    if call.kind not in ("read", "poll", "select", "epoll"):
        return False
    try:
        descriptors = _descriptors(call.kind, call.arguments[0], call.arguments[1], process)
        return any(_is_terminal(process, fd, terminal) for fd in descriptors)
    except (OSError, IndexError, ValueError):
        return None


def _descriptors(kind: str, first: int, second: int, process: str) -> Iterable[int]:
    """Return the descriptors that a blocked call waits to read from. Raises OSError."""
    if kind == "read":
        return [first]
    if kind == "poll" and 0 < second <= _MOST_DESCRIPTORS:
        polled = struct.iter_unpack("=ihh", _memory(process, first, 8 * second))
        return [fd for fd, events, _ in polled if fd >= 0 and events & _POLLIN]
    if kind == "select" and 0 < first <= _MOST_DESCRIPTORS and second:
        bits = int.from_bytes(_memory(process, second, (first + 63) // 64 * 8), "little")
        return [fd for fd in range(first) if bits >> fd & 1]
    if kind == "epoll":
        rows = [line.split() for line in _text("%s/fdinfo/%d" % (process, first)).splitlines()]
        return [int(row[1]) for row in rows if row[:1] == ["tfd:"] and int(row[3], 16) & _POLLIN]
    return []


def _memory(process: str, address: int, size: int) -> bytes:
    fd = os.open(process + "/mem", os.O_RDONLY)
    try:
        return os.pread(fd, size, address)
    finally:
        os.close(fd)


def _is_terminal(process: str, fd: int, terminal: int) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.stat("%s/fd/%d" % (process, fd)).st_rdev in (terminal, _TTY)
    return False
