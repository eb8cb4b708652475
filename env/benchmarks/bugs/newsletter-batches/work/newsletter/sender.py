# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Sending an issue."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Iterable, List

from .addresses import unique
from .batches import batches


@dataclass
class Report:
    """What became of an issue."""

    sent: int = 0
    calls: int = 0
    refused: List[str] = field(default_factory=list)


def send_issue(
    readers: Iterable[str],
    deliver: Callable[[List[str]], Iterable[str]],
    size: int = 100,
    blocked: Iterable[str] = (),
) -> Report:
    """Deliver to all readers, up to `size` in one call of `deliver`, which returns the addresses it refused."""
    report = Report()
    for batch in batches(unique(readers, blocked), size):
        refused = list(deliver(batch))
        report.calls += 1
        report.sent += len(batch) - len(refused)
        report.refused += refused
    return report
