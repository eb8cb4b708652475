# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Filters."""
from __future__ import annotations

from typing import List

from pixels.image import Image


def _around(centre: int, size: int) -> range:
    return range(max(0, centre - 1), min(size, centre + 2))


def blur(image: Image) -> Image:
    """Each pixel becomes the average (rounded down) of itself and its neighbours in the picture."""

    def value(x: int, y: int) -> int:
        near: List[int] = [image.at(i, j) for j in _around(y, image.height) for i in _around(x, image.width)]
        return sum(near) // len(near)

    return Image.from_function(image.width, image.height, value)


def invert(image: Image) -> Image:
    """The negative."""
    return Image(image.width, image.height, [255 - value for value in image.data])
