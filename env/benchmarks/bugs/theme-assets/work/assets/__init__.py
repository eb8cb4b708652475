# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Images and styles of themes."""
from __future__ import annotations

from .finder import AssetError, Finder

__all__ = ["AssetError", "Finder"]
