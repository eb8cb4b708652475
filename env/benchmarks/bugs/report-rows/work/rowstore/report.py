# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reports over whole tables."""
from __future__ import annotations

from .pool import Pool
from .queries import Test, rows


def totals(pool: Pool, table: str, key: str, value: str, test: Test | None = None) -> dict[object, float]:
    """The sum of the column `value` for each value of the column `key`."""
    sums: dict[object, float] = {}
    for row in rows(pool, table, test):
        sums[row[key]] = sums.get(row[key], 0) + float(str(row[value]))
    return sums
