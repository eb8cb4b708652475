# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What can go wrong."""
from __future__ import annotations


class StationError(Exception):
    """Something the person at the station is told."""


class WrongCode(StationError):
    """The code is not that of the locker."""


class Blocked(StationError):
    """Too many wrong codes; the staff must help."""


class NoRoom(StationError):
    """No locker is free that is large enough."""
