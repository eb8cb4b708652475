# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from sudoku import Grid, count, solve
from sudoku.shape import Shape
from sudoku.solver import solutions


def valid(text, height, width):
    shape = Shape(height, width)
    rows = text.splitlines()
    return all(rows[r][c] not in {rows[x][y] for x, y in shape.peers((r, c))} for r, c in shape.cells())


def test_all_small_grids_are_counted():
    assert count("." * 16, 2, 2) == 288
    assert count("12.. .... .... ....", 2, 2) == 24
    assert count("1234 .... .... ....", 2, 2) == 12
    assert count("1... .... .... ...1", 2, 2) == 18


@pytest.mark.parametrize("puzzle", [
    "53..7.... 6..195... .98....6. 8...6...3 4..8.3..1 7...2...6 .6....28. ...419..5 ....8..79",
    "4.....8.5 .3....... ...7..... .2.....6. ....8.4.. ....1.... ...6.3.7. 5..2..... 1.4......",
    "..9748... 7........ .2.1.9... ..7...24. .64.1.59. .98...3.. ...8.3.2. ........6 ...2759..",
])
def test_puzzles_with_one_solution(puzzle):
    found = solve(puzzle)
    assert found is not None and valid(found, 3, 3)
    given = [c for c in puzzle if c != " "]
    assert all(a in (".", b) for a, b in zip(given, found.replace("\n", "")))
    assert count(puzzle, most=2) == 1


def test_empty_grids_of_other_shapes():
    for height, width in ((2, 3), (3, 2), (3, 3), (1, 4)):
        found = solve("." * (height * width) ** 2, height, width)
        assert found is not None and valid(found, height, width)


def test_copies_are_apart():
    grid = Grid.read("." * 16, Shape(2, 2))
    twin = grid.copy()
    assert twin.place((0, 0), 1)
    assert str(grid) == "....\n....\n....\n...."
    assert grid.options[(0, 1)] == {1, 2, 3, 4}


def test_copies_have_the_same_options():
    grid = Grid.read("." * 16, Shape(2, 2))
    grid.options[(0, 0)].discard(3)
    assert grid.copy().options == grid.options
    assert grid.copy().shape == Shape(2, 2)


def test_digits_from_ten_on():
    grid = Grid.read("1" + "." * 99, Shape(2, 5))
    assert grid.place((0, 1), 10)
    twin = grid.copy()
    assert twin.options == grid.options
    assert twin.place((1, 5), 10)
    assert len(grid.options[(1, 5)]) == 10


@pytest.mark.parametrize("height, width", [(2, 5), (5, 2), (2, 6)])
def test_large_shapes_are_solved(height, width):
    shape = Shape(height, width)
    found = next(solutions(Grid.read("." * shape.size**2, shape)), None)
    assert found is not None
    digits = {cell: next(iter(found.options[cell])) for cell in shape.cells()}
    assert all(len(found.options[cell]) == 1 for cell in shape.cells())
    assert all(digits[cell] not in {digits[peer] for peer in shape.peers(cell)} for cell in shape.cells())
