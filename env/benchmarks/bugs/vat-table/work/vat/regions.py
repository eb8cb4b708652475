# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The tables of the regions."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Collection, Dict


@dataclass(frozen=True)
class Region:
    """Rates in per mille; kinds in neither collection carry the full rate."""

    code: str
    full: int
    reduced: int
    reduced_kinds: Collection[str] = ()
    exempt_kinds: Collection[str] = ()


REGIONS: Dict[str, Region] = {
    region.code: region
    for region in (
        Region("SL1", 250, 120, ("food", "bread", "bread-organic", "hotel"), ("stamps", "health")),
        Region("NL2", 240, 60, ("food", "bread", "books"), ("bread-organic")),
        Region("OL3", 200, 50, ("books", "books-audio"), ()),
        Region("VL4", 190, 70, ("transport", "food"), ("transport-ferry", "health")),
    )
}
