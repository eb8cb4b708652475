# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from sudoku.grid import Grid
from sudoku.layout import LAYOUTS, peers
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
