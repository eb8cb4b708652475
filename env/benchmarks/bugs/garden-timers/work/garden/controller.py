# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The controller."""
from __future__ import annotations

from typing import Dict, List, Tuple

from garden.queue import DueQueue
from garden.tap import Tap

Event = Tuple[int, str, str]


class Controller:
    """Opens and closes taps; `log` holds (minute, name, what) of everything done."""

    def __init__(self, now: int = 0) -> None:
        self.now = now
        self.log: List[Event] = []
        self._taps: Dict[str, Tap] = {}
        self._openings = DueQueue()
        self._closings = DueQueue()

    def add(self, tap: Tap) -> None:
        """Install a tap and switch it on; ValueError if the name is taken."""
        if tap.name in self._taps:
            raise ValueError("name taken: " + tap.name)
        self._taps[tap.name] = tap
        self.switch_on(tap.name)

    def switch_on(self, name: str) -> None:
        """Let the tap open at its times from now on; nothing changes if it is on already."""
        if name not in self._openings:
            self._openings.put(name, self._taps[name].next_opening(self.now))

    def switch_off(self, name: str) -> None:
        """No more openings; an open tap is closed at once."""
        if name in self._openings:
            self._openings.remove(name)
        if name in self._closings:
            self._closings.remove(name)
            self.log.append((self.now, name, "close"))

    def move(self, name: str, minute: int) -> None:
        """Give the tap another minute of the day."""
        self._taps[name].minute = minute
        if name in self._openings:
            self._openings.put(name, self._taps[name].next_opening(self.now))

    def run_until(self, minute: int) -> None:
        """Let time pass and do what is due, up to and including that minute; closings come before openings."""
        while True:
            opening, closing = self._openings.next_minute(), self._closings.next_minute()
            due = [when for when in (opening, closing) if when is not None and when <= minute]
            if not due:
                break
            self.now = min(due)
            if closing == self.now:
                _, name = self._closings.pop()
                self.log.append((self.now, name, "close"))
                continue
            _, name = self._openings.pop()
            self.log.append((self.now, name, "open"))
            self._closings.put(name, self.now + self._taps[name].length)
            self._openings.put(name, self._taps[name].after(self.now))
        self.now = minute
