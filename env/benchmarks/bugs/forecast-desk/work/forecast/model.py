# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Forecasts."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Forecast:
    """The weather expected in a city."""

    city: str
    celsius: float
    sky: str = "clear"

    def line(self) -> str:
        return f"{self.city}: {self.celsius:+.1f} C, {self.sky}"
