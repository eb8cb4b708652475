# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Parts."""
from __future__ import annotations

from dataclasses import dataclass

GROUND = "0"


@dataclass(frozen=True)
class Resistor:
    one: str
    two: str
    ohms: float


@dataclass(frozen=True)
class Source:
    """Keeps `plus` at `volts` above `minus`."""

    plus: str
    minus: str
    volts: float


@dataclass(frozen=True)
class Current:
    """Pushes `amperes` from one node to another."""

    start: str
    end: str
    amperes: float
