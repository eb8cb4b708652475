# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""How good a block of seats is."""
from __future__ import annotations

from seats.hall import Row


def strands(row: Row, start: int, size: int) -> bool:
    """Whether taking the block leaves a single free seat, with none free next
    to it, on at least one side of the block."""
    left, right = start - 1, start + size
    single_left = row.is_free(left) and not row.is_free(left - 1)
    single_right = row.is_free(right) and not row.is_free(right + 1)
    return single_left and single_right


def off_centre(row: Row, start: int, size: int) -> int:
    """Distance between the middles of the block and of the row, in half seats."""
    return abs(2 * start + size - len(row))
