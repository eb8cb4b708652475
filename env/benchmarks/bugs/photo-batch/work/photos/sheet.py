# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Contact sheets."""
from __future__ import annotations

from typing import Callable, List, Sequence, Tuple

from .crew import in_parallel
from .photo import Photo

SHADES = " .:*#"


def ascii_art(thumbnail: Sequence[Sequence[int]]) -> List[str]:
    """Rows of signs, dark to bright."""
    return ["".join(SHADES[min(pixel * len(SHADES) // 256, len(SHADES) - 1)] for pixel in row) for row in thumbnail]


def contact_sheet(
    names: Sequence[str], load: Callable[[str], Photo], size: int = 4, workers: int = 4
) -> List[Tuple[str, List[str]]]:
    """Each name with the picture of its photo, in the order of the names."""
    pictures = in_parallel(lambda name: ascii_art(load(name).thumbnail(size)), names, workers)
    return list(zip(names, pictures))


def brightest(names: Sequence[str], load: Callable[[str], Photo], workers: int = 4) -> str:
    """The name of the brightest photo, the first of them if there are several."""
    values = in_parallel(lambda name: load(name).brightness(), names, workers)
    return names[values.index(max(values))]
