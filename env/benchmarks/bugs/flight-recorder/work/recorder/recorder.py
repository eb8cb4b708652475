# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The recorder."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List, Tuple

from .samples import Sample, broken_limits
from .tape import Tape


@dataclass(frozen=True)
class Alarm:
    """An alarm with the samples before it."""

    sample: Sample
    reasons: Tuple[str, ...]
    before: Tuple[Sample, ...]


class Recorder:
    """Records samples; an alarm is noted when a limit is broken that was not broken by the sample before."""

    def __init__(self, length: int = 60, before: int = 10) -> None:
        self._tape: Tape[Sample] = Tape(length)
        self._before = before
        self._broken: Tuple[str, ...] = ()
        self.alarms: List[Alarm] = []

    def record(self, second: int, altitude: int, speed: int) -> None:
        sample = Sample(second, altitude, speed)
        broken = broken_limits(sample)
        fresh = tuple(name for name in broken if name not in self._broken)
        if fresh:
            self.alarms.append(Alarm(sample, fresh, tuple(self._tape.last(self._before))))
        self._broken = broken
        self._tape.append(sample)

    def tape(self) -> List[Sample]:
        """Everything that is still on the tape, oldest first."""
        return list(self._tape)

    def average_speed(self, seconds: int) -> float:
        """The average over the latest samples; 0 if there are none."""
        speeds = [sample.speed for sample in self._tape.last(seconds)]
        return sum(speeds) / len(speeds) if speeds else 0.0
