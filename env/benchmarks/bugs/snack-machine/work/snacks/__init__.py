# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A snack machine."""
from __future__ import annotations

from .machine import Machine
from .coins import CoinBox, NoChange

__all__ = ["CoinBox", "Machine", "NoChange"]
