# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Goods in depots."""
from __future__ import annotations

from .depot import Depot, NotEnough
from .transfers import Transfers

__all__ = ["Depot", "NotEnough", "Transfers"]
