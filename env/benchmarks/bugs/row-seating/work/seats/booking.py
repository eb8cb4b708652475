# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Booking."""
from __future__ import annotations

from typing import Optional, Tuple

from seats.hall import Hall
from seats.rating import off_centre, strands


def best_block(hall: Hall, size: int) -> Optional[Tuple[str, int]]:
    """The block to offer to a party, None if there is none.

    Blocks that strand no single seat go before those that do; then the front
    row goes first; in a row the block nearest to the centre, of equals the
    left one.
    """
    order = {name: n for n, name in enumerate(hall.rows)}
    return min(
        hall.blocks(size),
        key=lambda block: (
            strands(hall.rows[block[0]], block[1], size),
            order[block[0]],
            off_centre(hall.rows[block[0]], block[1], size),
            block[1],
        ),
        default=None,
    )


def book(hall: Hall, guest: str, size: int) -> Optional[str]:
    """Seat a party; returns its first seat as `row-number` (from 1), None if the hall has no room."""
    if size < 1:
        raise ValueError("empty party")
    block = best_block(hall, size)
    if block is None:
        return None
    name, start = block
    hall.rows[name].take(start, size, guest)
    return "%s-%d" % (name, start + 1)


def cancel(hall: Hall, guest: str) -> int:
    """Give back all seats of a guest; returns how many."""
    return sum(row.release(guest) for row in hall.rows.values())
