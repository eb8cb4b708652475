# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Sharing bills among flats."""
from __future__ import annotations

from .bill import Bill
from .house import House
from .split import split

__all__ = ["Bill", "House", "split"]
