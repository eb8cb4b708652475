# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Cutting names into numbers and other text."""
from __future__ import annotations

from itertools import groupby
from typing import Iterator, Tuple


def chunks(name: str) -> Iterator[Tuple[bool, str]]:
    """The longest runs of decimal digits (True) and of anything else (False) in a name, in order."""
    for number, letters in groupby(name, key=str.isdigit):
        yield number, "".join(letters)
