# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Helpers that all readers share."""
from __future__ import annotations

from typing import Dict, Iterator, Sequence


def content_lines(text: str, comment: str = "#") -> Iterator[str]:
    """Lines that are neither blank nor comments, without line ends."""
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith(comment):
            yield line


def make_record(names: Sequence[str], values: Sequence[str], fill: str = "", strip: bool = True) -> Dict[str, str]:
    """Pair names with values; missing values become `fill`, extra ones are dropped."""
    padded = list(values) + [fill] * (len(names) - len(values))
    return {n: (v.strip() if strip else v) for n, v in zip(names, padded)}
