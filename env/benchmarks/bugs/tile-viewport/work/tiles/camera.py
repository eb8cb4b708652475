# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The part of the map on the screen."""
from __future__ import annotations

from typing import List, Tuple

from tiles.world import World


def clamp(value: int, low: int, high: int) -> int:
    """The number nearest to `value` in low..high; `low` if that range is empty."""
    return max(low, min(value, high))


class Camera:
    """Shows `width` times `height` tiles around a place.

    At the borders of the map the camera stops, so that no place off the map
    is shown. Of a map smaller than the screen the whole map is shown.
    """

    def __init__(self, world: World, width: int, height: int) -> None:
        self.world = world
        self.width = min(width, world.width)
        self.height = min(height, world.height)

    def corner(self, x: int, y: int) -> Tuple[int, int]:
        """Column and row of the upper left tile shown when looking at a place."""
        left = clamp(x - self.width // 2, 0, self.world.width - self.width + 1)
        top = clamp(y - self.height // 2, 0, self.world.height - self.height + 1)
        return left, top

    def view(self, x: int, y: int, hero: str = "@") -> List[str]:
        """The rows on the screen, with the hero at the place looked at."""
        left, top = self.corner(x, y)
        rows = []
        for row in range(top, top + self.height):
            tiles = [self.world.tile(column, row) for column in range(left, left + self.width)]
            if row == y:
                tiles[x - left] = hero
            rows.append("".join(tiles))
        return rows
