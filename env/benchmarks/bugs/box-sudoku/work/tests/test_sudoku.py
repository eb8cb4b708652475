# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from sudoku import count, solve

HARD = """
8........ ..36..... .7..9.2.. .5...7... ....457.. ...1...3. ..1....68 ..85...1. .9....4..
"""


def test_easy():
    assert solve("1... ..2. .3.. ...4", 2, 2) == "1243\n3421\n4312\n2134"


def test_contradiction():
    assert solve("11.. .... .... ....", 2, 2) is None


def test_hard():
    found = solve(HARD)
    assert found is not None
    assert found.splitlines()[0] == "812753649"


def test_wrong_size():
    try:
        solve("12", 2, 2)
    except ValueError:
        return
    raise AssertionError
