# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A price list that many read and few change."""
from __future__ import annotations

from .gate import Gate
from .prices import PriceList

__all__ = ["Gate", "PriceList"]
