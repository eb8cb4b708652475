# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Suggestions for misspelt words."""
from __future__ import annotations

from .checker import Checker
from .distance import distance

__all__ = ["Checker", "distance"]
