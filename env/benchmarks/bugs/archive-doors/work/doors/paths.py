# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Paths of documents."""
from __future__ import annotations

from typing import Tuple

Path = Tuple[str, ...]


def parse_path(text: str) -> Path:
    """The parts of a path; slashes at the ends do not matter."""
    return tuple(part for part in text.strip().split("/") if part)


def is_below(path: Path, top: Path) -> bool:
    """Whether the path is the other one or lies below it."""
    return path[: len(top)] == top
