# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Fingerprints of grey pictures."""
from __future__ import annotations

from typing import List, Sequence

SIDE = 4


def shrink(rows: Sequence[Sequence[int]], side: int = SIDE) -> List[int]:
    """The average of each of side x side fields; the picture must be at least that large."""
    height, width = len(rows), len(rows[0])
    fields = []
    for i in range(side):
        for j in range(side):
            part = [
                value
                for row in rows[i * height // side:(i + 1) * height // side]
                for value in row[j * width // side:(j + 1) * width // side]
            ]
            fields.append(sum(part) // len(part))
    return fields


def fingerprint(rows: Sequence[Sequence[int]]) -> int:
    """One bit for each field: whether it is lighter than the average, first field highest."""
    fields = shrink(rows)
    bits = 0
    for field in fields:
        bits = bits << 1 | (field * len(fields) > sum(fields))
    return bits


def difference(a: int, b: int) -> int:
    """In how many bits two fingerprints differ."""
    return bin(a ^ b).count("1")
