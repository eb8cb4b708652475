# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A text format: `width height`, then the pixels."""
from __future__ import annotations

from pixels.image import Image


def load(text: str) -> Image:
    """Read a picture; ValueError if it has not as many pixels as it should."""
    numbers = [int(word) for word in text.split()]
    width, height, data = numbers[0], numbers[1], numbers[2:]
    if len(data) != width * height:
        raise ValueError("wrong number of pixels")
    return Image(width, height, data)


def save(image: Image) -> str:
    """The inverse of load, one row a line."""
    lines = ["%d %d" % (image.width, image.height)]
    lines += [" ".join(map(str, row)) for row in image.rows()]
    return "\n".join(lines) + "\n"
