# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from sudoku.grid import Grid
from sudoku.layout import LAYOUTS, Layout, peers
from sudoku.solver import solve


@pytest.mark.parametrize("size, rows, columns", [(4, 2, 2), (6, 2, 3), (8, 2, 4), (9, 3, 3)])
def test_boxes(size, rows, columns):
    layout = LAYOUTS[size]
    boxes = {}
    for cell in layout.cells():
        boxes.setdefault(layout.box(cell), []).append(cell)
    assert sorted(boxes) == list(range(size))
    for cells in boxes.values():
        (top, left) = cells[0]
        assert top % rows == 0 and left % columns == 0
        assert cells == [(top + r, left + c) for r in range(rows) for c in range(columns)]


def test_box_numbers_go_row_by_row():
    assert [LAYOUTS[6].box((row, column)) for row in (0, 2, 5) for column in (0, 3)] == [0, 1, 2, 3, 4, 5]


def test_peers():
    assert len(peers(LAYOUTS[6], (0, 0))) == 5 + 5 + 2
    assert (1, 2) in peers(LAYOUTS[6], (0, 0)) and (1, 3) not in peers(LAYOUTS[6], (0, 0))
    assert len(peers(LAYOUTS[8], (7, 7))) == 7 + 7 + 3


def test_candidates_of_a_small_puzzle():
    grid = Grid("123... ...... ...... ...... ...... ......")
    assert grid.candidates((1, 2)) == {4, 5, 6}
    assert grid.candidates((1, 3)) == {1, 2, 3, 4, 5, 6}
    assert grid.candidates((0, 5)) == {4, 5, 6}


def test_empty_grid():
    solution = solve(".... .... .... ....")
    assert solution is not None
    Grid(solution)


def test_eight():
    rows = ["".join(str((4 * (r % 2) + r // 2 + c) % 8 + 1) for c in range(8)) for r in range(8)]
    puzzle = [row[:k] + "." + row[k + 1:] for k, row in enumerate(rows)]
    assert solve(" ".join(puzzle)) == " ".join(rows)


def test_no_solution():
    assert solve("123. ...4 .... ....") is None


@pytest.mark.parametrize("rows", range(1, 6))
@pytest.mark.parametrize("columns", range(1, 6))
def test_boxes_of_any_shape(rows, columns):
    layout = Layout(rows, columns)
    assert layout.size == rows * columns and len(layout.cells()) == layout.size**2
    number = 0
    for top in range(0, layout.size, rows):
        for left in range(0, layout.size, columns):
            assert {layout.box((top + r, left + c)) for r in range(rows) for c in range(columns)} == {number}
            number += 1
    assert number == layout.size


@pytest.mark.parametrize("rows, columns", [(1, 4), (4, 1), (2, 2), (3, 2), (2, 3), (4, 2), (2, 4), (3, 3)])
def test_peers_of_any_shape(rows, columns):
    layout = Layout(rows, columns)
    for row, column in layout.cells():
        top, left = row - row % rows, column - column % columns
        box = {(top + r, left + c) for r in range(rows) for c in range(columns)}
        lines = {(row, k) for k in range(layout.size)} | {(k, column) for k in range(layout.size)}
        assert peers(layout, (row, column)) == (box | lines) - {(row, column)}


@pytest.mark.parametrize("size", [4, 6, 8, 9])
def test_grids_of_every_size(size):
    layout = LAYOUTS[size]
    empty = " ".join(["." * size] * size)
    solved = solve(empty)
    assert solved is not None and Grid(solved).text() == solved
    assert all(len(set(digits)) == size for digits in [*solved.split(), *map("".join, zip(*solved.split()))])
    for cell in layout.cells():
        grid = Grid(empty)
        grid.put(cell, 1)
        for other in layout.cells():
            if other == cell:
                continue
            if other in peers(layout, cell):
                assert grid.candidates(other) == set(range(2, size + 1))
                with pytest.raises(ValueError):
                    grid.put(other, 1)
            else:
                assert grid.candidates(other) == set(range(1, size + 1))
        with pytest.raises(ValueError):
            grid.put(cell, size + 1)
