# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Times of day, in minutes after midnight."""
from __future__ import annotations


def minutes(text: str) -> int:
    """Raises ValueError for what is no time."""
    hours, colon, rest = text.partition(":")
    if not colon or not 0 <= int(rest) < 60 or int(hours) < 0:
        raise ValueError(f"{text!r} is no time")
    return int(hours) * 60 + int(rest)


def clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
