# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Which rate applies."""
from __future__ import annotations

from vat.regions import REGIONS, Region


def region_of(code: str) -> Region:
    """The region with that code in any spelling; ValueError if there is none."""
    try:
        return REGIONS[code.strip().upper()]
    except KeyError:
        raise ValueError("no such region: " + code) from None


def rate(region: Region, kind: str) -> int:
    """The rate in per mille for a kind of goods."""
    kind = kind.strip().lower()
    if kind in region.exempt_kinds:
        return 0
    if kind in region.reduced_kinds:
        return region.reduced
    return region.full
