# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A server side cache of map tiles."""
from __future__ import annotations

from .cache import TileCache
from .view import View

__all__ = ["TileCache", "View"]
