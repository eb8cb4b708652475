# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Printing spans."""
from __future__ import annotations

from collections import defaultdict
from typing import Dict, Iterable, List, Optional

from .span import Span


def tree(spans: Iterable[Span]) -> List[str]:
    """The names of the spans, each indented below its parent, in the order of their beginning."""
    below: Dict[Optional[int], List[Span]] = defaultdict(list)
    for span in sorted(spans, key=lambda s: s.number):
        below[span.parent].append(span)
    lines: List[str] = []

    def add(parent: Optional[int], depth: int) -> None:
        for span in below[parent]:
            lines.append("  " * depth + span.name)
            add(span.number, depth + 1)

    add(None, 0)
    return lines
