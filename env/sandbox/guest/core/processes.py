"""Runs commands with a deadline, and ends their whole process tree with them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Optional, Set, Tuple

from .allowance import Allowance

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36

INTERRUPT_GRACE_S = 0.4
"""How long a command may take to say where it was interrupted before it is killed."""


_OOM_SCORE = "/proc/self/oom_score_adj"
_EXPENDABLE = 800
_oom_score: Optional[Tuple[int, int]] = None
"""Of a protected process: a descriptor of its score, and the score."""


class HeadTail:
    """Caps output at its source: in bounded memory it keeps the first and the last half of `cap` bytes."""

    def __init__(self, cap: int) -> None:
        self._half = max(cap // 2, 1)
        self._head = bytearray()
        self._tail: List[bytes] = []
        self._tail_size = 0
        self._total = 0

    def write(self, data: bytes) -> None:
        """Take in some bytes; memory stays bounded however many there are."""
        self._total += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= self._half:
            self._tail_size -= len(self._tail.pop(0))
        if len(self._tail) > 4096:
            self._tail = [b"".join(self._tail)[-self._half :]]
            self._tail_size = len(self._tail[0])

    def take(self) -> "tuple[bytes, int]":
        """Return what was collected, with a note if bytes were dropped, and their number. Then start over."""
        tail = b"".join(self._tail)[-self._half :]
        dropped = self._total - len(self._head) - len(tail)
        middle = b"\n[... %d bytes dropped ...]\n" % dropped if dropped else b""
        data = bytes(self._head) + middle + tail
        self.__init__(self._half * 2)  # type: ignore[misc]
        return data, dropped


def protect_self() -> None:
    """Protect this process from its children: no ptrace, no /proc/PID/mem or fd. Orphans become our children."""
    global _oom_score
    libc = ctypes.CDLL(None, use_errno=True)
    # Neither a process that was another user before nor a protected one has access to its own files in /proc.
    libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
    with contextlib.suppress(FileNotFoundError):
        fd = os.open(_OOM_SCORE, os.O_RDWR | os.O_CLOEXEC)
        _oom_score = fd, int(os.read(fd, 16))
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def child_setup(
    max_files: int = 1024,
    max_memory: Optional[int] = None,
    max_processes: Optional[int] = None,
    last: Callable[[], Any] = lambda: None,
) -> Callable[[], None]:
    """Return a `preexec_fn` that puts a child under its limits; `max_memory`: bytes of address space; None: no limit.

    `last` is called in the child after that.
    """

    def setup() -> None:
        # The guest ignores this signal, and an ignored signal stays ignored after an exec.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        limit = max_files if hard == resource.RLIM_INFINITY else min(max_files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        if max_memory:
            resource.setrlimit(resource.RLIMIT_AS, (max_memory, max_memory))
        if max_processes:
            resource.setrlimit(resource.RLIMIT_NPROC, (max_processes, max_processes))
        # Many processes that fight for the last memory would keep the guest from ending them.
        os.nice(10)
        last()

    return setup


@contextlib.contextmanager
def expendable() -> Iterator[None]:
    """When memory runs out, the kernel kills what is forked in this block, and not this process, which is protected.

    The child cannot do it: until it starts a program, it is protected too. The way back needs no privilege.
    """
    if _oom_score is None:
        yield
        return
    fd, usual = _oom_score
    os.pwrite(fd, b"%d" % max(usual, _EXPENDABLE), 0)
    try:
        yield
    finally:
        os.pwrite(fd, b"%d" % usual, 0)


def be_expendable() -> None:
    """Do the same for this process, which is not protected."""
    with contextlib.suppress(FileNotFoundError), open(_OOM_SCORE, "w") as file:
        file.write(str(_EXPENDABLE))


def _children(pid: int) -> List[int]:
    pids: List[int] = []
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task)) as file:
                pids += map(int, file.read().split())
    except (OSError, ValueError):
        pass
    return pids


def descendants(pid: int, skip: Iterable[int] = ()) -> Set[int]:
    """Return all living descendants of a process, without those in `skip` and their descendants."""
    skipped = set(skip)
    pids: Set[int] = set()
    pending = [pid]
    while pending:
        for child in _children(pending.pop()):
            if child not in pids and child not in skipped:
                pids.add(child)
                pending.append(child)
    return pids


KEPT: Set[int] = set()
"""Processes that outlive a command, with their descendants: the debugged program, the warm Python."""


def reap() -> None:
    """Collect dead orphans, but no process that somebody waits for."""
    for pid in _children(os.getpid()):
        if pid not in KEPT:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def kill_tree(pids: Set[int], collect: Callable[[], Any] = lambda: None, patience_s: float = 1.0) -> None:
    """Kill `pids` and all descendants of this process that are not kept, those being forked included.

    `collect` is called before orphans are collected, so that its caller learns the exit status it waits for.
    """
    deadline = time.monotonic() + patience_s
    targets = set(pids)
    while targets:
        for pid in targets:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        collect()
        if time.monotonic() > deadline:
            if os.getpid() == 1:
                # A fork bomb outruns one kill at a time; this one kills the whole namespace except us at once.
                with contextlib.suppress(ProcessLookupError):  # nobody is left
                    os.kill(-1, signal.SIGKILL)
            break
        reap()
        targets = descendants(os.getpid(), KEPT)
        if targets:
            time.sleep(0.002)
    collect()
    reap()


class CannotStart(Exception):
    """The command could not be started: no such program, or no process left."""


class NoProcessLeft(CannotStart):
    """The processes that are kept in the sandbox have used up its limit of processes."""


def spawn(argv: List[str], **options: Any) -> "subprocess.Popen[bytes]":
    """Start a process in a session of its own. If no process is left, kill strays and try once more."""
    for last in (False, True):
        try:
            with expendable():
                return subprocess.Popen(argv, start_new_session=True, **options)
        except (BlockingIOError, MemoryError) as error:
            if last:
                raise NoProcessLeft("no process can be started in the sandbox: %s" % error) from None
            kill_tree(descendants(os.getpid(), KEPT))
        except OSError as error:
            raise CannotStart("%s: %s" % (argv[0], error.strerror)) from None
    raise AssertionError


class Child(Protocol):
    """The part of `subprocess.Popen` that is needed."""

    pid: int
    returncode: Any

    def poll(self) -> Optional[int]:
        """Return the exit status, None while the process runs."""
        raise NotImplementedError

    def wait(self, timeout: Optional[float] = None) -> int:
        """Wait for the exit status."""
        raise NotImplementedError


def run(
    start: Callable[[int], Child],
    *,
    timeout_s: float,
    cap: int,
    watch: Optional[Dict[int, Callable[[bytes], None]]] = None,
    lifeline: int = -1,
) -> Dict[str, Any]:
    """Run a command to its end or its deadline, then end everything it started.

    The deadline does not count waiting for a processor; see `Allowance`. `start` starts the command, with the
    descriptor that its output goes to. `watch`: further descriptors to read while it runs, each with the function that
    takes what was read. `lifeline`: the host's channel; when it hangs up, nobody waits for the command any more.

    Returns `exit` (negative: the signal), `timed_out`, `waited_s` (if the time was not enough: the wait for a processor
    that was not made up for), `output` (bytes), `dropped`, `wall_ms`. Raises CannotStart.
    """
    started = time.monotonic()
    read_fd, write_fd = os.pipe()
    try:
        child = start(write_fd)
    except CannotStart:
        os.close(read_fd)
        raise
    finally:
        os.close(write_fd)
    collected = HeadTail(cap)
    takers: Dict[int, Callable[[bytes], None]] = {read_fd: collected.write, **(watch or {})}
    for fd in takers:
        os.set_blocking(fd, False)
    poller = select.poll()
    for fd in takers:
        poller.register(fd, select.POLLIN | select.POLLHUP)
    if lifeline >= 0:
        poller.register(lifeline, 0)

    def pump(seconds: float) -> None:
        for fd, _ in poller.poll(max(seconds, 0) * 1000):
            if fd == lifeline:
                KEPT.clear()
                kill_tree(descendants(os.getpid()))
                os._exit(0)
            try:
                data = os.read(fd, 1 << 18)
            except BlockingIOError:
                continue
            if data:
                takers[fd](data)
            else:
                poller.unregister(fd)
                open_fds.discard(fd)

    def pids() -> Set[int]:
        # All of them: a process that left its parent competes for the same processors.
        return set(descendants(os.getpid(), KEPT))

    open_fds = set(takers)
    limit = Allowance(timeout_s, pids)
    timed_out = False
    waited = 0.0
    pause = 0.0001
    while child.poll() is None:
        remaining = limit.left()
        if remaining <= 0:
            if timed_out:
                break
            # Interrupt before killing: an interrupted Python prints where it was.
            timed_out = True
            waited = limit.waited_s()
            limit = Allowance(INTERRUPT_GRACE_S, pids)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGINT)
            continue
        # Wait a bounded time: a child that has closed its output wakes nobody when it ends.
        pump(min(remaining, 0.05) if open_fds else 0)
        if not open_fds:
            # Most children close their output by ending.
            time.sleep(min(max(remaining, 0), pause))
            pause = min(2 * pause, 0.005)
    strays = descendants(os.getpid(), KEPT)
    if strays:
        kill_tree(strays, child.poll)
    if child.returncode is None:
        child.wait()
    drain_until = time.monotonic() + 1.0
    while open_fds and time.monotonic() < drain_until:
        pump(0.02)
    for fd in takers:
        os.close(fd)
    output, dropped = collected.take()
    return {
        "exit": child.returncode,
        "timed_out": timed_out,
        "waited_s": waited,
        "output": output,
        "dropped": dropped,
        "wall_ms": (time.monotonic() - started) * 1000,
    }


class TimeLimit(Exception):
    """A block took longer than allowed."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimit in the block if it takes longer. Works in the main thread, for code that Python can interrupt."""

    def stop(*_: object) -> None:
        raise TimeLimit

    old_handler = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old_handler)
