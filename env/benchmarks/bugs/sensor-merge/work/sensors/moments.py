# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Count, mean and sum of squared deviations, without keeping the numbers."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Moments:
    """`squares` is the sum of the squared deviations from the mean."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, number: float) -> "Moments":
        """The moments with one more number."""
        count = self.count + 1
        off = number - self.mean
        mean = self.mean + off / count
        return Moments(count, mean, self.squares + off * (number - mean))

    def merge(self, other: "Moments") -> "Moments":
        """The moments of the numbers of both."""
        if not self.count or not other.count:
            return other if not self.count else self
        count = self.count + other.count
        off = other.mean - self.mean
        mean = self.mean + off * other.count / count
        squares = self.squares + other.squares + off * (other.mean - mean) * other.count
        squares += off * (mean - self.mean) * other.count
        return Moments(count, mean, squares)

    @property
    def variance(self) -> float:
        """The variance of the numbers as a sample; 0 for less than two of them."""
        return self.squares / (self.count - 1) if self.count > 1 else 0.0
