"""What one user's processes share on a machine: the home folder, locks in it, and marks that identify processes."""

from __future__ import annotations

import fcntl
import functools
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from platformdirs import user_data_path

from stackrank.errors import NotReady
from stackrank.host.disk import is_full, naming
from stackrank.settings import settings


def home() -> Path:
    """The folder for data that outlives a command: `STACKRANK_HOME`, else the platform's folder for user data."""
    configured = settings().home
    return configured.expanduser().absolute() if configured else user_data_path("stackrank")


def make_private(folder: Path) -> None:
    """Create a folder, and the missing ones above it, that other users of this machine can neither list nor enter.

    Results, hidden tests and answers of known fixes are stored there. An existing folder stays as it is.
    """
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def write_whole(file: Path, content: str | bytes) -> None:
    """Write a file atomically: readers see the old or the new content, never a mix. Only its owner can read it.

    Creates its folder if necessary.
    """
    make_private(file.parent)
    part = file.with_suffix(".part")
    with naming(file, part):
        part.unlink(missing_ok=True)
        try:
            part.touch(mode=0o600)
            part.write_bytes(content.encode() if isinstance(content, str) else content)
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def locked(
    name: str, *, when_busy: Callable[[], None] = lambda: None, patience_s: float | None = None
) -> Iterator[None]:
    """Hold a lock that one process of this user can have at a time. `name`: a path below the home folder;
    `when_busy`: called once before waiting for another process.

    `patience_s`: how long to wait, for locks that are held only for moments; None: as long as it takes.
    Raises NotReady if the home folder cannot be written to, or another process kept the lock for longer.
    """
    path = home() / f"{name}.lock"
    try:
        make_private(path.parent)
        file = path.open("a+")  # "a" keeps the holder's pid readable until the lock is ours
    except OSError as error:
        remedy = "free some space, or set STACKRANK_HOME to a folder on another disk"
        if not is_full(path.parent):
            remedy = "set STACKRANK_HOME to a folder you own"
        raise NotReady(f"Cannot write to {path.parent} ({error.strerror}): {remedy}.") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            when_busy()
            _wait(file, patience_s)
        with suppress(OSError):  # the pid is for people; the lock works on a full disk, too
            os.ftruncate(file.fileno(), 0)
            os.write(file.fileno(), str(os.getpid()).encode())
        yield


def _wait(lock: TextIO, patience_s: float | None) -> None:
    if patience_s is None:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return
    deadline = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                lock.seek(0)
                holder = lock.read().strip() or "?"
                raise NotReady(
                    f"Process {holder} has held the lock {lock.name} for {patience_s:g} s; it is normally held for "
                    f"milliseconds. The process hangs or is suspended: end it or continue it (`kill -CONT {holder}`), "
                    "then run the command again."
                ) from None
            time.sleep(0.02)


def process_mark() -> str:
    """Identify this process as `host:boot:namespace:pid:birth`, unique even after the pid is used again.

    No part depends on the clock. Only `host`, which is for people, is a name that two machines may share.
    `boot` is the kernel's id of its boot, `namespace` the namespace of the pid; for `birth` see `_birth`.
    """
    return _mark(os.getpid())


@functools.lru_cache(maxsize=1)
def _mark(pid: int) -> str:
    return ":".join((*_place(), str(pid), _birth(pid)))


def is_dead(mark: str) -> bool:
    """Whether the process of a mark is known to be dead. False for another machine, boot or namespace."""
    parts = mark.split(":")
    if len(parts) != 5 or tuple(parts[:3]) != _place() or not parts[3].isdecimal():
        return False
    try:
        return _birth(int(parts[3])) != parts[4]
    except ProcessLookupError:
        return True
    except PermissionError:
        return False


def is_of_this_boot(mark: str) -> bool:
    """Whether the process of a mark started after this machine booted; True if the mark does not tell."""
    parts = mark.split(":")
    return len(parts) != 5 or parts[1] == _place()[1]


@functools.cache
def _place() -> tuple[str, str, str]:
    """The machine's name for people, the id of its boot, and the namespace of our pids; both are `-` without Linux."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")[:16]
        namespace = str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        boot = namespace = "-"
    return socket.gethostname().replace(":", "-"), boot, namespace


def _birth(pid: int) -> str:
    """Return when a process started, in kernel ticks since boot, which changes of the clock do not affect.

    This is field 22 of proc_pid_stat(5); without Linux, the start time that the system reports. Raises
    ProcessLookupError if the process has ended, even if it is still a zombie; PermissionError if it belongs to another
    user and is hidden.
    """
    if _place()[1] == "-":
        import psutil  # imported late: commands that only read do not need it

        try:
            return f"{psutil.Process(pid).create_time():.6f}"
        except psutil.NoSuchProcess:
            raise ProcessLookupError(pid) from None
        except psutil.AccessDenied:
            raise PermissionError(pid) from None
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        os.kill(pid, 0)  # raises ProcessLookupError, unless the process exists but is hidden
        raise PermissionError(pid) from None
    if state in (b"Z", b"X"):
        raise ProcessLookupError(pid)
    return fields[18].decode()
