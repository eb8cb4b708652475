# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A solver for sudokus of any box size."""
from __future__ import annotations

from .grid import Grid
from .solver import count, solve

__all__ = ["Grid", "count", "solve"]
