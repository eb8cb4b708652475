# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Plans: graduated prices for metered units."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Iterator, Optional, Tuple


@dataclass(frozen=True)
class Step:
    """Units up to `upto` (None: without end) cost `price` cents each."""

    upto: Optional[int]
    price: int
    label: str = ""


@dataclass(frozen=True)
class Plan:
    """A base fee in cents and steps of rising `upto` for each meter."""

    name: str
    base: int
    meters: Dict[str, Tuple[Step, ...]]


def charges(steps: Tuple[Step, ...], units: int) -> Iterator[Tuple[Step, int]]:
    """Which units are charged at which step: (step, number of units).

    Each unit is charged at the price of the step it lies in. Steps that are
    free of charge, or that no unit reaches, are not listed.
    """
    below = 0
    for step in steps:
        if units <= below:
            return
        if not step.price:
            continue
        top = units if step.upto is None else min(units, step.upto)
        yield step, top - below
        below = top
