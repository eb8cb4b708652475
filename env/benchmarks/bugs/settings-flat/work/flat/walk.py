# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""From nested to flat."""
from __future__ import annotations

from typing import Any, Dict, Iterator, Tuple

from .paths import Path, join


def leaves(value: Any, path: Path = ()) -> Iterator[Tuple[Path, Any]]:
    """The paths and values of all that has nothing below it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, path + (key,))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, path + (index,))
    else:
        yield path, value


def flatten(settings: Dict[str, Any]) -> Dict[str, Any]:
    """One entry for each leaf. Empty lists and sections are leaves; no settings at all are no entries."""
    return {join(path): value for path, value in leaves(settings) if path}
