# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Formulas: reading, printing, calculating, derivatives."""
from __future__ import annotations

from .calc import calculate
from .derive import derive
from .printer import show
from .reader import read

__all__ = ["calculate", "derive", "read", "show"]
