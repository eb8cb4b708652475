# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The control of the machine."""
from __future__ import annotations

from typing import List, Optional

from .programmes import PROGRAMMES, Phase


class Washer:
    """States: idle, the name of a phase, paused, done.

    A running programme pauses when the pause button is pressed, when the door is opened and when the water is gone.
    `start` goes on with the phase that was interrupted, if the door is closed and there is water.
    """

    def __init__(self) -> None:
        self.state = "idle"
        self.door_open = False
        self.water = True
        self._phases: List[Phase] = []
        self._left = 0
        self._interrupted: Optional[str] = None
        self.log: List[str] = []

    def select(self, programme: str) -> None:
        """Choose a programme; not while one is running."""
        if self.state not in ("idle", "done"):
            raise ValueError("a programme is running")
        self._phases = list(PROGRAMMES[programme])
        self._left = 0
        self._enter("idle")

    def start(self) -> bool:
        """Start the programme, or go on with it; False if that is not possible now."""
        if self.door_open or not self.water:
            return False
        if self.state == "paused" and self._interrupted is not None:
            self._enter(self._interrupted)
            self._interrupted = None
            return True
        if self.state == "idle" and self._phases:
            self._next_phase()
            return True
        return False

    def pause(self) -> None:
        """Interrupt a running programme; in other states nothing happens."""
        if self.state in ("idle", "done"):
            return
        self._interrupted = self.state
        self._enter("paused")

    def open_door(self) -> None:
        self.door_open = True
        self.pause()

    def close_door(self) -> None:
        self.door_open = False

    def set_water(self, running: bool) -> None:
        """The tap was opened or closed."""
        self.water = running
        if not running:
            self.pause()

    def reset(self) -> None:
        """Forget the programme."""
        self._phases, self._left, self._interrupted = [], 0, None
        self._enter("idle")

    def tick(self, minutes: int = 1) -> None:
        """Time passes. While paused the programme stands still."""
        for _ in range(minutes):
            if self.state in ("idle", "paused", "done"):
                return
            self._left -= 1
            if self._left == 0:
                self._next_phase()

    def remaining(self) -> int:
        """Minutes until the programme is done."""
        return self._left + sum(phase.minutes for phase in self._phases)

    def _next_phase(self) -> None:
        if not self._phases:
            self._enter("done")
            return
        phase = self._phases.pop(0)
        self._left = phase.minutes
        self._enter(phase.name)

    def _enter(self, state: str) -> None:
        self.state = state
        self.log.append(state)
