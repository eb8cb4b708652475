# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Questions about signals."""
from __future__ import annotations

from typing import Iterable, Optional, Tuple

from .runs import Run, runs


def longest(signal: Iterable[Optional[int]]) -> Optional[Run]:
    """The longest run with a value, the first of them if there are several."""
    return max((run for run in runs(signal) if run.value is not None), key=lambda run: run.count, default=None)


def outages(signal: Iterable[Optional[int]]) -> Tuple[int, int]:
    """How many outages there were, and how many samples are missing in all."""
    counts = [run.count for run in runs(signal) if run.value is None]
    return len(counts), sum(counts)
