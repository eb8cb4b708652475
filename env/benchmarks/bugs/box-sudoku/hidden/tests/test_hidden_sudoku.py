# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random
from itertools import permutations

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


def snapshot(grid):
    return {cell: set(digits) for cell, digits in grid.options.items()}


@pytest.mark.parametrize("height, width", [(2, 2), (2, 3), (3, 2), (3, 3)])
def test_nothing_done_to_a_copy_reaches_the_grid(height, width):
    chance = random.Random(6)
    shape = Shape(height, width)
    failed = 0
    for _ in range(4):
        grid = Grid.read("." * shape.size**2, shape)
        for _ in range(shape.size):
            before, text = snapshot(grid), str(grid)
            for cell in chance.sample(shape.cells(), 4):
                for digit in chance.sample(range(1, shape.size + 1), 2):
                    failed += not grid.copy().place(cell, digit)
                    twin = grid.copy()
                    twin.place(cell, digit)
                    assert snapshot(grid) == before
                    for peer in shape.peers(cell):
                        twin.copy().place(peer, digit)
                    assert (snapshot(grid), str(grid)) == (before, text)
            attempt = grid.copy()
            if attempt.place(chance.choice(shape.cells()), chance.randint(1, shape.size)):
                grid = attempt
    assert failed


def test_a_grid_is_the_same_after_its_solutions():
    for text in ("1... .... .... ...1", "." * 16, "12.. .... ..3. ...."):
        grid = Grid.read(text, Shape(2, 2))
        before = snapshot(grid)
        found = [str(one) for one in solutions(grid)]
        assert snapshot(grid) == before
        assert len(set(found)) == len(found) == count(text, 2, 2)
        assert [str(one) for one in solutions(grid)] == found
        assert all(valid(one, 2, 2) for one in found)


def test_solutions_kept_for_later():
    kept = list(solutions(Grid.read("." * 16, Shape(2, 2))))
    assert len({str(one) for one in kept}) == 288
    assert all(valid(str(one), 2, 2) for one in kept)


def test_counts_like_all_ways_to_fill():
    full = [()]
    for _ in range(4):
        full = [(*rows, row) for rows in full for row in permutations("1234") if all(len({*c}) == len(c) for c in zip(*rows, row))]
    full = ["".join(map("".join, rows)) for rows in full]
    full = [one for one in full if valid("\n".join(one[at : at + 4] for at in (0, 4, 8, 12)), 2, 2)]
    assert len(full) == 288
    chance = random.Random(2)
    for _ in range(30):
        puzzle = "".join(digit if chance.random() < 0.25 else "." for digit in chance.choice(full))
        wrong = chance.randrange(16)
        puzzle = puzzle[:wrong] + chance.choice("1234...") + puzzle[wrong + 1 :]
        number = sum(all(a in (b, ".") for a, b in zip(puzzle, one)) for one in full)
        assert count(puzzle, 2, 2) == number
        assert count(puzzle, 2, 2, most=3) == min(number, 3)
        assert (solve(puzzle, 2, 2) is None) is (number == 0)
