# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The mixer."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import List

from .effects import gain
from .samples import UNIT, Samples, clip


@dataclass
class Channel:
    """A sound that begins at a sample number and has a level."""

    sound: Samples
    start: int = 0
    level: int = UNIT


@dataclass
class Mixer:
    """Channels to be mixed."""

    master: int = UNIT
    channels: List[Channel] = field(default_factory=list)

    def add(self, sound: Samples, start: int = 0, level: int = UNIT) -> Channel:
        channel = Channel(list(sound), start, level)
        self.channels.append(channel)
        return channel

    def mix(self) -> Samples:
        """All the channels at their levels added up, at the level of the master, clipped at the end only."""
        length = max((c.start + len(c.sound) for c in self.channels), default=0)
        total = [0] * length
        for channel in self.channels:
            for index, sample in enumerate(gain(channel.sound, channel.level), channel.start):
                total[index] += sample
        return [clip(sample) for sample in gain(total, self.master)]
