# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Determinants, ranks, equations and inverses. None of these change their arguments."""
from __future__ import annotations

from fractions import Fraction

from linear.elimination import back_substitute, triangulate
from linear.matrix import Matrix


class Singular(ArithmeticError):
    """The matrix has no inverse."""


def determinant(matrix: Matrix) -> Fraction:
    """The determinant of a square matrix."""
    if matrix.height != matrix.width:
        raise ValueError("not square")
    rows = matrix.rows()
    _, product = triangulate(rows)
    for n in range(matrix.height):
        product *= rows[n][n]
    return product


def rank(matrix: Matrix) -> int:
    """The number of linearly independent rows."""
    return triangulate(matrix.rows())[0]


def solve(matrix: Matrix, right: Matrix) -> Matrix:
    """The X with matrix @ X == right; Singular if there is not exactly one."""
    if right.height != matrix.height:
        raise ValueError("shapes do not fit")
    if determinant(matrix) == 0:
        raise Singular("determinant is 0")
    rows = [left + side for left, side in zip(matrix.rows(), right.rows())]
    triangulate(rows)
    back_substitute(rows, matrix.width)
    return Matrix([row[matrix.width:] for row in rows])


def inverse(matrix: Matrix) -> Matrix:
    """The inverse matrix."""
    return solve(matrix, Matrix.identity(matrix.height))
