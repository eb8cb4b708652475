# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from crossword.grid import Grid
from crossword.lists import show, word_lists

SQUARE = Grid("cat ore wed")
HOLES = Grid("tea# o#pt wine")


def test_full_square():
    assert word_lists(SQUARE) == ({1: "cat", 4: "ore", 5: "wed"}, {1: "cow", 2: "are", 3: "ted"})


def test_black_squares():
    assert word_lists(HOLES) == ({1: "tea", 3: "pt", 5: "wine"}, {1: "tow", 2: "apn", 4: "te"})


def test_show():
    assert show(Grid("ab #c")) == ["1 across (2)", "2 down (2)"]


def test_rows_differ():
    with pytest.raises(ValueError):
        Grid("ab c")
