# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Stations and distances."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

Place = Tuple[float, float]


@dataclass(frozen=True)
class Station:
    name: str
    place: Place
    bikes: int = 1


def square(a: Place, b: Place) -> float:
    """The square of the distance."""
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2
