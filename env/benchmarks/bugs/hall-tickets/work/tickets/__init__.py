# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Selling tickets for a hall."""
from __future__ import annotations

from .hall import Hall, Taken
from .office import Office

__all__ = ["Hall", "Office", "Taken"]
