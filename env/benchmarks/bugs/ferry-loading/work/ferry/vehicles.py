# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Vehicles that wait at the quay."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List


@dataclass(frozen=True)
class Vehicle:
    """Length in decimetres, weight in hundreds of kilograms."""

    plate: str
    kind: str
    length: int
    weight: int


def parse_queue(text: str) -> List[Vehicle]:
    """Lines of `plate kind length weight`, in the order of arrival."""
    queue = []
    for line in text.splitlines():
        if line.strip():
            plate, kind, length, weight = line.split()
            queue.append(Vehicle(plate, kind, int(length), int(weight)))
    return queue
