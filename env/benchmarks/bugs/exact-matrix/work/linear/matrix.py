# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Matrices."""
from __future__ import annotations

from fractions import Fraction
from typing import Iterator, List, Sequence, Union

Number = Union[int, Fraction]
Rows = List[List[Fraction]]


class Matrix:
    """A rectangular matrix of fractions."""

    def __init__(self, rows: Sequence[Sequence[Number]]) -> None:
        self._rows: Rows = [[Fraction(x) for x in row] for row in rows]
        if len({len(row) for row in self._rows}) != 1:
            raise ValueError("rows differ in length")

    @classmethod
    def identity(cls, size: int) -> Matrix:
        """The unit matrix."""
        return cls([[int(i == j) for j in range(size)] for i in range(size)])

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(self._rows)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self._rows[0])

    def rows(self) -> Rows:
        """The rows as lists of their own, for the caller to change."""
        return self._rows[:]

    def columns(self) -> Iterator[List[Fraction]]:
        """The columns, from the left."""
        return (list(column) for column in zip(*self._rows))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Matrix) and self._rows == other._rows

    def __matmul__(self, other: Matrix) -> Matrix:
        if self.width != other.height:
            raise ValueError("shapes do not fit")
        columns = list(other.columns())
        return Matrix([[sum(a * b for a, b in zip(row, column)) for column in columns] for row in self._rows])

    def __repr__(self) -> str:
        return "Matrix([%s])" % ", ".join("[%s]" % ", ".join(map(str, row)) for row in self._rows)
