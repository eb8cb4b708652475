# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Time zones as fixed offsets."""
from __future__ import annotations

from datetime import timedelta, timezone

OFFSETS = {"UTC": 0, "Lisbon": 60, "Berlin": 120, "Mumbai": 330, "Denver": -360}


def zone(name: str) -> timezone:
    """The zone of a town or of an offset such as `+02:00`; ValueError if it is neither."""
    if name in OFFSETS:
        return timezone(timedelta(minutes=OFFSETS[name]))
    try:
        hours, minutes = name[1:].split(":")
        offset = timedelta(hours=int(hours), minutes=int(minutes))
    except ValueError:
        raise ValueError("no such zone: " + name) from None
    return timezone(-offset if name[0] == "-" else offset)
