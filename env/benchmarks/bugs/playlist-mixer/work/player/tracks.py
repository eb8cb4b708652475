# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Tracks."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Track:
    """A song."""

    artist: str
    title: str
    seconds: int

    @classmethod
    def parse(cls, line: str) -> Track:
        """Read `Artist - Title (m:ss)`."""
        name, _, length = line.strip().rstrip(")").rpartition(" (")
        artist, _, title = name.partition(" - ")
        minutes, _, seconds = length.partition(":")
        return cls(artist, title, 60 * int(minutes) + int(seconds))

    def __str__(self) -> str:
        return "%s - %s (%d:%02d)" % ((self.artist, self.title) + divmod(self.seconds, 60))
