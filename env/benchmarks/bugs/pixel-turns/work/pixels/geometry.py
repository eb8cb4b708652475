# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Turning, mirroring, cutting."""
from __future__ import annotations

from pixels.image import Image


def mirror(image: Image) -> Image:
    """Left and right swapped."""
    return Image.from_function(image.width, image.height, lambda x, y: image.at(image.width - 1 - x, y))


def transpose(image: Image) -> Image:
    """Columns become rows."""
    return Image.from_function(image.height, image.width, lambda x, y: image.at(y, x))


def turn(image: Image, quarters: int) -> Image:
    """Turn by quarters, clockwise (counter-clockwise if negative)."""
    quarters %= 4
    if quarters == 0:
        return image
    if quarters == 2:
        return Image(image.width, image.height, image.data[::-1])
    data = []
    columns = range(image.width) if quarters == 1 else range(image.width - 1, -1, -1)
    for x in columns:
        column = [image.at(x, y) for y in range(image.height)]
        data.extend(column[::-1] if quarters == 1 else column)
    return Image(image.height, image.width, data)


def crop(image: Image, left: int, top: int, width: int, height: int) -> Image:
    """A part of the picture; what would lie outside is left out."""
    width = min(width, image.width - left)
    height = min(height, image.width - top)
    data = []
    for y in range(top, top + height):
        start = y * image.width + left
        data.extend(image.data[start:start + width])
    return Image(width, height, data)
