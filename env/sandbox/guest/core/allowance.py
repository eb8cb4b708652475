"""Time limits that a busy machine does not use up."""

from __future__ import annotations

import contextlib
import os
import resource
import time
from typing import Callable, Dict, Iterable, Optional, Tuple

PATIENCE = 8
"""A limit lasts at most this many times its length, however long the processes had to wait."""
_LITTLE = 0.01
"""The share of a limit that is too short to look at the processes: a debugger step takes no longer than a look."""


class Allowance:
    """A time limit that does not count the time that processes waited for a processor used by others."""

    def __init__(self, seconds: float, pids: Callable[[], Iterable[int]], proc: str = "/proc") -> None:
        """`pids` returns the ids of the processes that the limit covers, which may come and go."""
        self._seconds = seconds
        self._pids = pids
        self._proc = proc
        self._end = time.monotonic() + seconds
        self._most = (PATIENCE - 1) * seconds
        self._given = 0.0
        self._before: Optional[Tuple[Dict[int, float], float]] = None

    def left(self) -> float:
        """Return the seconds after which to ask again; 0 or less when the time is up."""
        remaining = self._end - time.monotonic()
        if self._before is None:
            unseen = remaining - (1 - _LITTLE) * self._seconds
            if unseen > 0:
                return unseen
            self._before = self._used()
            # Even if this first look comes late, because the caller had to wait for a processor itself.
            remaining = (1 - _LITTLE) * self._seconds
            self._end = time.monotonic() + remaining
        if remaining > 0:
            return remaining
        extension = min(self.waited_s(), self._most - self._given)
        # Less is not worth another look: a program that waits now and then would be looked at forever.
        if extension < _LITTLE * self._seconds:
            return remaining
        self._given += extension
        self._end += extension
        return self._end - time.monotonic()

    def waited_s(self) -> float:
        """Return the seconds that a process was ready to run while others had the processors, less those made up for.

        This is the longest wait of any process. It is 0 if all of them together ran for longer, because then they
        waited for each other. https://docs.kernel.org/scheduler/sched-stats.html (schedstat: run and wait, in ns).
        """
        if self._before is None:
            return 0.0
        (waits, ran), (waits_before, ran_before) = self._used(), self._before
        waited = max((wait - waits_before.get(pid, 0.0) for pid, wait in waits.items()), default=0.0)
        return max(waited - self._given, 0.0) if waited > ran - ran_before else 0.0

    def used_s(self) -> float:
        """Return the seconds of the limit that were used up, without that waiting."""
        return max(self._seconds - (self._end - time.monotonic()) - self.waited_s(), 0.0)

    def _used(self) -> Tuple[Dict[int, float], float]:
        """Return the seconds that each process waited, and that they and the ended ones ran; see proc_pid_stat(5)."""
        children_usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        ran = children_usage.ru_utime + children_usage.ru_stime
        waits = {}
        for pid in self._pids():
            with contextlib.suppress(OSError, ValueError, IndexError):
                with open("%s/%d/schedstat" % (self._proc, pid)) as file:
                    waits[pid] = int(file.read().split()[1]) / 1e9
                with open("%s/%d/stat" % (self._proc, pid)) as file:
                    fields = file.read().rpartition(")")[2].split()
                ran += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        return waits, ran
