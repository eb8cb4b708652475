# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Who comes first."""
from __future__ import annotations

from typing import Iterable, List

from adverts.model import Advert


def rank(adverts: Iterable[Advert], reserve: int) -> List[Advert]:
    """Adverts that bid at least the reserve by score, highest first; equal ones by name."""
    valid = [advert for advert in adverts if advert.bid >= reserve]
    return sorted(valid, key=lambda advert: (-advert.score, advert.name))


def best_of_each(ranked: Iterable[Advert]) -> List[Advert]:
    """The first advert of each owner, order kept."""
    owners = set()
    kept = []
    for advert in ranked:
        if advert.owner not in owners:
            owners.add(advert.owner)
            kept.append(advert)
    return kept
