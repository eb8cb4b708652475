# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The converter."""
from __future__ import annotations

from collections import deque
from fractions import Fraction
from typing import Deque, Dict, Union

from .line import Line

Number = Union[int, float, str, Fraction]


class NoWay(ValueError):
    """There is no way from one unit to the other."""


def exact(number: Number) -> Fraction:
    """The number as it is written in decimal."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


class Converter:
    """Units and how some of them are converted; the others are found by going over several units."""

    def __init__(self) -> None:
        self._lines: Dict[str, Dict[str, Line]] = {}

    def define(self, unit: str, other: str, factor: Number, offset: Number = 0) -> None:
        """Define: number of other = factor * number of unit + offset."""
        line = Line(exact(factor), exact(offset))
        self._lines.setdefault(unit, {})[other] = line
        self._lines.setdefault(other, {})[unit] = line.inverse()

    def line(self, unit: str, other: str) -> Line:
        """The line from one unit to another, by the shortest way."""
        known: Dict[str, Line] = {unit: Line()}
        pending: Deque[str] = deque([unit])
        while pending:
            current = pending.popleft()
            if current == other:
                return known[current]
            for neighbour, line in self._lines.get(current, {}).items():
                if neighbour not in known:
                    known[neighbour] = known[current].then(line)
                    pending.append(neighbour)
        raise NoWay(f"{unit} to {other}")

    def convert(self, number: Number, unit: str, other: str) -> float:
        """The number in another unit."""
        return float(self.line(unit, other)(exact(number)))
