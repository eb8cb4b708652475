"""Which thread of the debugged program may talk to the agent.

Nothing here reads a clock or sleeps, because the program may have replaced both: locks wait in C.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Callable, Iterator

PATIENCE = 150
"""How many ticks a thread at a breakpoint waits for another thread's step, which may need a lock that it holds."""
TICK_S = 0.002


class Turns:
    """Lets one thread at a time stop. Stepping follows the thread that stopped last."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self.lock = threading.RLock()
        self.thread = threading.current_thread()
        """The thread that stopped last."""
        self._taken = 0
        self._never = threading.Lock()
        self._never.acquire()
        self._wait = self._never.acquire

    @property
    def is_mine(self) -> bool:
        """Whether the calling thread is the one that stopped last."""
        return threading.current_thread() is self.thread  # numbers of threads are used again

    def wait(self, stepping: Callable[[], bool]) -> None:
        """Wait in a thread at a breakpoint until the step of the thread that stopped last is finished."""
        turn, ticks = self._taken, 0
        while not self.is_mine and stepping() and self.thread.is_alive() and ticks < PATIENCE:
            self._wait(True, TICK_S)
            ticks = ticks + 1 if turn == self._taken else 0
            turn = self._taken

    def take(self) -> None:
        """Let the calling thread be the one that stopped last. Note if it was another one."""
        if not self.is_mine:
            old, self.thread = self.thread, threading.current_thread()
            if self._taken:
                ended = "" if old.is_alive() else ", because thread %s has ended" % old.name
                self._note(
                    "the program stopped in thread %s, no longer in thread %s%s" % (self.thread.name, old.name, ended)
                )
        self._taken += 1

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Hold the turn: no other thread stops meanwhile."""
        with self.lock:
            self.take()
            yield
