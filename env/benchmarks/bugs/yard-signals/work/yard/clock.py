# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The day, part by part."""
from __future__ import annotations

from typing import Iterator, List, Tuple

from .day import TRAINS


def minute(text: str) -> int:
    hours, _, minutes = text.partition(":")
    return int(hours) * 60 + int(minutes)


def waves(within: int = 4) -> Iterator[List[Tuple[str, str]]]:
    """Trains that come within so many minutes of each other, with their routes."""
    wave: List[Tuple[str, str]] = []
    begin = -within
    for time, name, route in TRAINS:
        if minute(time) - begin >= within and wave:
            yield wave
            wave = []
        if not wave:
            begin = minute(time)
        wave.append((name, route))
    if wave:
        yield wave
