# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Orders of a shop, read from rows."""
from __future__ import annotations

from .orders import Order
from .printing import print_order

__all__ = ["Order", "print_order"]
