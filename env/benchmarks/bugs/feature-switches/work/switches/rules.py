# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Rules that say who gets a feature."""
from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import FrozenSet


@dataclass(frozen=True)
class Rule:
    """`percent` of all customers and everybody in `groups`; nobody in `never`."""

    percent: int = 0
    groups: FrozenSet[str] = field(default_factory=frozenset)
    never: FrozenSet[str] = field(default_factory=frozenset)

    def applies(self, feature: str, customer: str, groups: FrozenSet[str]) -> bool:
        """Whether the customer gets the feature; always the same answer for the same customer."""
        if customer in self.never:
            return False
        return bool(self.groups & groups) or bucket(feature, customer) < self.percent


def bucket(feature: str, customer: str) -> int:
    """A number from 0 to 99, spread evenly over the customers and different for each feature."""
    return zlib.crc32(f"{feature}/{customer}".encode("utf-8")) % 100
