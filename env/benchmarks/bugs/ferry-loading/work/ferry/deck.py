# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Lanes of a car deck."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Optional

from ferry.vehicles import Vehicle


@dataclass
class Lane:
    """A lane of a certain length with the vehicles standing in it."""

    number: int
    length: int
    heavy: bool = False
    vehicles: List[Vehicle] = field(default_factory=list)

    @property
    def free(self) -> int:
        return self.length - sum(v.length for v in self.vehicles)

    def takes(self, vehicle: Vehicle) -> bool:
        """Lorries and buses need a heavy lane; gaps are part of the vehicles' lengths."""
        return vehicle.length <= self.free and (self.heavy or vehicle.kind not in ("lorry", "bus"))


def pick_lane(lanes: List[Lane], vehicle: Vehicle) -> Optional[Lane]:
    """The lane with the least room left that takes the vehicle; cars keep off heavy lanes if they can."""
    fitting = [lane for lane in lanes if lane.takes(vehicle)]
    return min(fitting, key=lambda lane: (lane.heavy and vehicle.kind == "car", lane.free, lane.number), default=None)
