# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Bills."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bill:
    """An amount in cents, shared by a key such as "area" or "people"."""

    title: str
    cents: int
    key: str
