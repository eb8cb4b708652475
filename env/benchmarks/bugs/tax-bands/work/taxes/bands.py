# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Tax bands."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple


@dataclass(frozen=True)
class Band:
    """Income up to `upto` (None: without end) that is not in a lower band is taxed at `per_cent`."""

    upto: Optional[int]
    per_cent: int


def parse_bands(text: str) -> List[Band]:
    """Read `12000:0 20000:20 -:40`; limits must rise and the last must be `-`."""
    bands: List[Band] = []
    for item in text.split():
        limit, _, per_cent = item.partition(":")
        bands.append(Band(None if limit == "-" else int(limit), int(per_cent)))
    limits = [band.upto for band in bands]
    if not limits or limits[-1] is not None or None in limits[:-1]:
        raise ValueError("the last band, and only that, must be open")
    if any(low >= high for low, high in zip(limits, limits[1:-1]) if low is not None and high is not None):
        raise ValueError("limits must rise")
    return bands


def parts(income: int, bands: Sequence[Band]) -> List[Tuple[int, int]]:
    """How much of the income falls into each band, with its rate, lowest band first; bands not reached are left out."""
    result: List[Tuple[int, int]] = []
    lower = 0
    for band in bands:
        upper = income if band.upto is None else min(income, band.upto)
        if upper <= lower:
            break
        result.append((upper - lower, band.per_cent))
        lower = upper - lower
    return result
