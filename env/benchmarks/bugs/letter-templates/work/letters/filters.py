# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Filters for values."""
from __future__ import annotations

from typing import Callable, Dict, Iterable

from .errors import UnknownFilter

FILTERS: Dict[str, Callable[[str], str]] = {
    "upper": str.upper,
    "title": str.title,
    "strip": str.strip,
    "quoted": lambda value: f'"{value}"',
}


def apply(value: str, filters: Iterable[str]) -> str:
    """The value after all the filters, from left to right."""
    for name in filters:
        if name not in FILTERS:
            raise UnknownFilter(name)
        value = FILTERS[name](value)
    return value
