# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Experiments."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, FrozenSet, List, Optional, Tuple

from splits.buckets import bucket, within


@dataclass(frozen=True)
class Experiment:
    """Shares of variants in per cent, of the users who take part; `traffic` per cent of all users do."""

    name: str
    shares: Tuple[Tuple[str, int], ...]
    traffic: int = 100
    forced: Dict[str, str] = field(default_factory=dict)
    excluded: FrozenSet[str] = frozenset()

    def __post_init__(self) -> None:
        if sum(share for _, share in self.shares) != 100:
            raise ValueError("shares must make 100 per cent")

    def takes_part(self, user: str) -> bool:
        """Whether the user is among those the experiment is shown to."""
        return within(bucket(user, self.name + "/traffic"), 0, self.traffic)

    def variant_of_bucket(self, number: int) -> str:
        """The variant for a bucket: each has as many buckets as its share, in order."""
        start = 0
        for variant, share in self.shares:
            if within(number, start, share):
                return variant
            start += share
        raise ValueError("no such bucket: %d" % number)

    def variant(self, user: str) -> Optional[str]:
        """The variant a user gets; None if the user takes no part. Forced users always take part."""
        if user in self.forced:
            return self.forced[user]
        if user in self.excluded or not self.takes_part(user):
            return None
        return self.variant_of_bucket(bucket(user, self.name))
