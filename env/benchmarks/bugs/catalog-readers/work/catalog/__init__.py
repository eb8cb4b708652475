# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A product catalog with many readers and few writers."""
from __future__ import annotations

from .catalog import Catalog
from .rwlock import ReadWriteLock

__all__ = ["Catalog", "ReadWriteLock"]
