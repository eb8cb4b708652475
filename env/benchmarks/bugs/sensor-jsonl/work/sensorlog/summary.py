# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Figures about readings."""
from __future__ import annotations

from typing import Iterable

from .reading import Reading


def summary(readings: Iterable[Reading]) -> dict[str, tuple[float, float, float]]:
    """Least, mean and greatest value of each sensor."""
    values: dict[str, list[float]] = {}
    for reading in readings:
        values.setdefault(reading.sensor, []).append(reading.value)
    return {sensor: (min(v), sum(v) / len(v), max(v)) for sensor, v in sorted(values.items())}
