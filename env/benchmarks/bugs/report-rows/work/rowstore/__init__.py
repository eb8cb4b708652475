# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reports over a small database with pooled connections."""
from __future__ import annotations

from .database import BrokenConnection, Connection, Database
from .pool import Pool, PoolExhausted
from .queries import exists, first_row, rows, take
from .report import totals

__all__ = [
    "BrokenConnection", "Connection", "Database", "Pool", "PoolExhausted", "exists", "first_row", "rows", "take", "totals",
]
