# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Printers."""
from __future__ import annotations

from typing import List


class PrinterError(Exception):
    """The printer cannot go on."""


class MemoryPrinter:
    """A printer with some paper that remembers what it printed."""

    def __init__(self, paper: int = 1000) -> None:
        self.paper = paper
        self.printed: List[str] = []

    def print_label(self, text: str) -> None:
        if self.paper == 0:
            raise PrinterError("no paper")
        self.paper -= 1
        self.printed.append(text)
