# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Edit lists such as `turn 1; crop 0 0 4 3; blur`."""
from __future__ import annotations

from typing import Callable, Dict

from pixels import filters, geometry
from pixels.files import load, save
from pixels.image import Image

EDITS: Dict[str, Callable[..., Image]] = {
    "turn": geometry.turn,
    "mirror": geometry.mirror,
    "transpose": geometry.transpose,
    "crop": geometry.crop,
    "blur": filters.blur,
    "invert": filters.invert,
}


def apply(text: str, edits: str) -> str:
    """Load a picture, apply the edits in order, save it. Unknown edits raise ValueError."""
    image = load(text)
    for edit in edits.split(";"):
        words = edit.split()
        if not words:
            continue
        if words[0] not in EDITS:
            raise ValueError("unknown edit: " + words[0])
        image = EDITS[words[0]](image, *map(int, words[1:]))
    return save(image)
