# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Cutting into batches."""
from __future__ import annotations

from typing import Iterable, Iterator, List, TypeVar

T = TypeVar("T")


def batches(items: Iterable[T], size: int) -> Iterator[List[T]]:
    """All items in order, in lists of `size`; the last list may be shorter, but never empty."""
    if size < 1:
        raise ValueError("size is at least 1")
    batch: List[T] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
