# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from fractions import Fraction

import pytest

from linear.matrix import Matrix
from linear.solver import determinant, inverse, rank, solve

A = [[2, 1, -1], [-3, -1, 2], [-2, 1, 2]]


def test_solution_satisfies_the_equations():
    matrix, right = Matrix(A), Matrix([[8, 1], [-11, 2], [-3, 3]])
    solution = solve(matrix, right)
    assert matrix @ solution == right
    assert [row[0] for row in solution.rows()] == [2, 3, -1]


def test_inverse():
    matrix = Matrix(A)
    assert matrix @ inverse(matrix) == Matrix.identity(3) == inverse(matrix) @ matrix


def test_arguments_are_not_changed():
    matrix = Matrix(A)
    assert rank(matrix) == 3
    assert matrix == Matrix(A)
    assert determinant(matrix) == determinant(matrix) == -1
    assert matrix == Matrix(A)


def test_rows_belong_to_the_caller():
    matrix = Matrix([[1, 2], [3, 4]])
    rows = matrix.rows()
    rows[0][0] = Fraction(9)
    rows.pop()
    assert matrix == Matrix([[1, 2], [3, 4]])


def test_row_exchange():
    matrix = Matrix([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    assert determinant(matrix) == 2
    assert solve(matrix, Matrix([[2], [2], [2]])) == Matrix([[1], [1], [1]])


def test_rank_of_wide_and_tall():
    assert rank(Matrix([[1, 2, 3], [2, 4, 6]])) == 1
    assert rank(Matrix([[1, 1], [1, 2], [2, 3]])) == 2
    assert rank(Matrix([[0, 0]])) == 0


def test_bad_shapes():
    with pytest.raises(ValueError):
        determinant(Matrix([[1, 2]]))
    with pytest.raises(ValueError):
        Matrix([[1], [1, 2]])
