# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from sudoku.grid import Grid
from sudoku.solver import solve

NINE = "53..7.... 6..195... .98....6. 8...6...3 4..8.3..1 7...2...6 .6....28. ...419..5 ....8..79"


def test_nine():
    assert solve(NINE).split()[0] == "534678912"


def test_six():
    assert solve("1.3456 4561.3 2..561 561.34 3.56.2 61234.") == "123456 456123 234561 561234 345612 612345"


def test_four():
    assert Grid("1... .... .... ...4").candidates((1, 1)) == {2, 3, 4}


def test_not_twice_in_a_row():
    with pytest.raises(ValueError):
        Grid("1..1 .... .... ....")
