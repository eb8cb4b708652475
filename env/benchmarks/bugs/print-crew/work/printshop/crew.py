# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The crew: threads that carry out orders."""
from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Callable, Iterable

from .mailbox import Mailbox, MailboxClosed


@dataclass(frozen=True)
class Outcome:
    """What became of an order: a result, or the error that stopped it."""

    order: Any
    result: Any = None
    error: Exception | None = None


class Crew:
    """`size` workers that carry out orders with `work` until the crew is sent home.

    An order that fails is noted in its outcome and does not stop the worker.
    """

    def __init__(self, size: int, work: Callable[[Any], Any]) -> None:
        self._work = work
        self.mailbox: Mailbox[Any] = Mailbox()
        self._outcomes: list[Outcome] = []
        self._guard = threading.Lock()
        self._threads = [
            threading.Thread(target=self._run, name=f"worker-{number}", daemon=True) for number in range(1, size + 1)
        ]
        for thread in self._threads:
            thread.start()

    def order(self, *orders: Any) -> None:
        """Hand in orders."""
        self.mailbox.put_all(orders)

    def send_home(self, timeout: float | None = None) -> list[Outcome]:
        """Let the workers finish what was ordered and return all the outcomes."""
        self.mailbox.close()
        for thread in self._threads:
            thread.join(timeout)
        with self._guard:
            return list(self._outcomes)

    def _run(self) -> None:
        while True:
            try:
                order = self.mailbox.take()
            except MailboxClosed:
                return
            self._note(self._carry_out(order))

    def _carry_out(self, order: Any) -> Outcome:
        try:
            return Outcome(order, result=self._work(order))
        except Exception as error:
            return Outcome(order, error=error)

    def _note(self, outcome: Outcome) -> None:
        with self._guard:
            self._outcomes.append(outcome)
