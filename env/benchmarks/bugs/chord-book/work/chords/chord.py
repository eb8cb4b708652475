# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""One chord."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple


@dataclass(frozen=True)
class Chord:
    """A name and the fret of each of the six strings, low E first; -1 is a string that is not played."""

    name: str
    frets: Tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> "Chord":
        """Read `C x32010`."""
        name, frets = text.split()
        if len(frets) != 6:
            raise ValueError(f"six strings expected: {text}")
        return cls(name, tuple(-1 if fret == "x" else int(fret) for fret in frets))

    def fingers(self) -> int:
        """How many strings are pressed."""
        return sum(1 for fret in self.frets if fret > 0)

    def __str__(self) -> str:
        return f"{self.name} {''.join('x' if fret < 0 else str(fret) for fret in self.frets)}"
