# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Trains, each in a thread of its own."""
from __future__ import annotations

import threading
from typing import Callable, Iterable, List, Optional, Tuple

from .signals import Collision, Signals


class Train:
    """Goes through the yard. `pause` is called with each section that it comes to."""

    def __init__(self, signals: Signals, name: str, route: str, pause: Optional[Callable[[str], None]] = None) -> None:
        self.name = name
        self.route = route
        self.failure: Optional[Collision] = None
        self._signals = signals
        self._pause = pause or (lambda section: None)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> "Train":
        self._thread.start()
        return self

    def join(self, timeout: Optional[float] = None) -> bool:
        """Whether it is through."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        signals = self._signals
        signals.request(self.name, self.route)
        path = signals.layout.path(signals.layout.routes[self.route])
        behind = ""
        try:
            for section in path:
                signals.enter(self.name, section)
                self._pause(section)
                if behind:
                    signals.leave(self.name, behind)
                behind = section
        except Collision as error:
            self.failure = error
        for section in path:
            signals.leave(self.name, section)


def run_all(signals: Signals, trains: Iterable[Tuple[str, str]]) -> List[Train]:
    """Start trains with their routes, and wait until all are through."""
    started = [Train(signals, name, route).start() for name, route in trains]
    for train in started:
        train.join(30)
    return started
