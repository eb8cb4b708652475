# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Parcels."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Parcel:
    """A parcel with its size (1 to 3), the code that opens the locker, and the day it was brought."""

    number: str
    size: int
    code: str
    day: int
