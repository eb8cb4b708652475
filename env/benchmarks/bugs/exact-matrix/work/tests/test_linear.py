# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from fractions import Fraction

import pytest

from linear.matrix import Matrix
from linear.solver import Singular, determinant, solve


def test_determinant():
    assert determinant(Matrix([[1, 2], [3, 4]])) == -2
    assert determinant(Matrix([[0, 2], [3, 4]])) == -6


def test_diagonal():
    assert solve(Matrix([[2, 0], [0, 4]]), Matrix([[1], [1]])) == Matrix([[Fraction(1, 2)], [Fraction(1, 4)]])


def test_two_equations():
    assert solve(Matrix([[1, 2], [3, 4]]), Matrix([[5], [11]])) == Matrix([[1], [2]])


def test_singular():
    with pytest.raises(Singular):
        solve(Matrix([[1, 2], [2, 4]]), Matrix([[1], [1]]))
