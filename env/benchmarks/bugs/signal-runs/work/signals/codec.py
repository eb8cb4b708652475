# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Runs as text."""
from __future__ import annotations

from typing import Iterable, List, Optional

from .runs import Run, runs, samples


def dump(signal: Iterable[Optional[int]], tolerance: int = 0) -> str:
    """The signal as text, for example `0*3 17 ?*2`."""
    return " ".join(_word(run) for run in runs(signal, tolerance))


def load(text: str) -> List[Optional[int]]:
    """The signal of a text."""
    return list(samples(_run(word) for word in text.split()))


def _word(run: Run) -> str:
    value = "?" if run.value is None else str(run.value)
    return value if run.count == 1 else f"{value}*{run.count}"


def _run(word: str) -> Run:
    value, _, count = word.partition("*")
    return Run(None if value == "?" else int(value), int(count or 1))
