# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Buckets of users."""
from __future__ import annotations

import hashlib

BUCKETS = 100


def bucket(user: str, salt: str) -> int:
    """The bucket of a user, 0 to 99; another salt mixes the users anew."""
    digest = hashlib.sha256((salt + ":" + user).encode("utf-8")).digest()
    return int.from_bytes(digest[:4], "big") % BUCKETS


def within(number: int, start: int, size: int) -> bool:
    """Whether a bucket is one of the `size` buckets from `start` on."""
    return start <= number <= start + size
