# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from crossword.grid import Grid
from crossword.lists import show, word_lists
from crossword.numbering import numbers


def test_column_only():
    assert show(Grid("a b c")) == ["1 down (3)"]
    assert numbers(Grid("a b c")) == {(0, 0): 1}


def test_row_only():
    assert word_lists(Grid("abc")) == ({1: "abc"}, {})


def test_lone_letters_have_no_number():
    assert numbers(Grid("a#b ### c#d")) == {}


def test_cross():
    grid = Grid("#a# bcd #e#")
    assert numbers(grid) == {(0, 1): 1, (1, 0): 2}
    assert word_lists(grid) == ({2: "bcd"}, {1: "ace"})


def test_before_black():
    grid = Grid("ab#c d#ef #ghi")
    assert numbers(grid) == {(0, 0): 1, (0, 3): 2, (1, 2): 3, (2, 1): 4}


def test_nothing():
    assert show(Grid("")) == []
    assert show(Grid("### ###")) == []
