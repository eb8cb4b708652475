# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Longitudes in degrees, from -180 up to but not including 180."""
from __future__ import annotations


def normal(degrees: float) -> float:
    """The longitude for any angle."""
    return (degrees + 180.0) % 360.0 - 180.0


def turn(start: float, end: float) -> float:
    """The way from one longitude to another, the short way round: positive to the east."""
    return normal(end - start)
