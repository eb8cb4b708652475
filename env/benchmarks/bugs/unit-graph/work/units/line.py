# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Straight lines: what units are converted by."""
from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Line:
    """y = factor * x + offset."""

    factor: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)

    def __call__(self, x: Fraction) -> Fraction:
        return self.factor * x + self.offset

    def then(self, other: "Line") -> "Line":
        """This line first, then the other."""
        return Line(self.factor * other.factor, other(self.offset))

    def inverse(self) -> "Line":
        """The line that leads back."""
        return Line(1 / self.factor, -self.offset)
