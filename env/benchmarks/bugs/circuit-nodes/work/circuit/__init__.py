# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Voltages in circuits of resistors and sources."""
from __future__ import annotations

from .circuit import Circuit
from .solve import NotDetermined

__all__ = ["Circuit", "NotDetermined"]
