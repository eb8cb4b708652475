# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The auction."""
from __future__ import annotations

from typing import Dict, Iterable, List

from adverts.model import Advert, Placement
from adverts.pricing import price_to_beat
from adverts.ranking import best_of_each, rank


def run_auction(adverts: Iterable[Advert], places: int, reserve: int = 1) -> List[Placement]:
    """Fill the places with the best adverts, one for each owner at most.

    Each pays what it takes to beat the best advert placed, or left, behind it.
    An owner never pays to beat his own adverts.
    """
    ranked = rank(adverts, reserve)
    placements = []
    for index, advert in enumerate(best_of_each(ranked)[:places]):
        behind = ranked[ranked.index(advert) + 1:]
        placements.append(Placement(index + 1, advert, price_to_beat(advert, behind, reserve)))
    return placements


def income(placements: Iterable[Placement], clicks: Dict[str, int]) -> int:
    """The cents earned with clicks by the name of the advert."""
    return sum(placement.price * clicks.get(placement.advert.name, 0) for placement in placements)
