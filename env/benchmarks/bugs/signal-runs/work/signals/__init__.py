# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Signals as runs of equal samples."""
from __future__ import annotations

from .codec import dump, load
from .stats import longest, outages

__all__ = ["dump", "load", "longest", "outages"]
