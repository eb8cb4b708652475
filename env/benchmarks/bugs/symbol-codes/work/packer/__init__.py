# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Packing of texts: frequent characters get short codes."""
from __future__ import annotations

from .pack import Packed, pack, unpack

__all__ = ["Packed", "pack", "unpack"]
