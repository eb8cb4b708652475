# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Figures from what was found."""
from __future__ import annotations

import os

from .walker import File, Usage


def by_suffix(usage: Usage) -> dict[str, int]:
    """The bytes of the files of each suffix (in lower case), the largest first."""
    sizes: dict[str, int] = {}
    for file in usage.files:
        suffix = os.path.splitext(file.path)[1].lower()
        sizes[suffix] = sizes.get(suffix, 0) + file.size
    return dict(sorted(sizes.items(), key=lambda item: (-item[1], item[0])))


def largest(usage: Usage, count: int) -> list[File]:
    """The largest files, by size and path."""
    return sorted(usage.files, key=lambda file: (-file.size, file.path))[:count]


def human(size: int) -> str:
    """A size for people: 512 B, 1.5 KiB, 20.0 MiB."""
    if size < 1024:
        return f"{size} B"
    amount = float(size)
    for unit in ("KiB", "MiB", "GiB"):
        amount /= 1024
        if amount < 1024:
            return f"{amount:.1f} {unit}"
    return f"{amount / 1024:.1f} TiB"
