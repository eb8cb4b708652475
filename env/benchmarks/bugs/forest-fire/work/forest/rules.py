# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""How a cell changes."""
from __future__ import annotations

from .terrain import ASH, EMPTY, FIRE, TREE, Cell, Terrain


def following(terrain: Terrain, cell: Cell, rainy: bool) -> str:
    """What the cell is one step later.

    A tree beside a fire catches fire, in rain only if at least two cells around it burn. A fire turns to ash,
    and ash is blown away.
    """
    sign = terrain[cell]
    if sign == FIRE:
        return ASH
    if sign == ASH:
        return EMPTY
    if sign == TREE:
        burning = sum(1 for other in terrain.neighbours(cell) if terrain[other] == FIRE)
        if burning >= (2 if rainy else 1):
            return FIRE
    return sign
