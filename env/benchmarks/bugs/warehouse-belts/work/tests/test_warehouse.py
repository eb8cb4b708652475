# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from warehouse import BadPlan, Floor, Trapped, ride, route

OLD = """
A..>v
..#^<
....B
"""

NEW = """
A.>>v
..#^<
.v<.B
"""


def test_route_without_trouble():
    floor = Floor("A.#\n>v.\n..B")
    assert ride(floor, (1, 0)) == (2, 1)
    assert route(floor) == "SE"


def test_old_plan():
    floor = Floor(OLD)
    with pytest.raises(Trapped):
        ride(floor, (0, 3))
    assert route(floor) == "ESSEEE"


def test_bad_plans():
    for text in ("A.\nB", "A..", "AB\nB."):
        with pytest.raises(BadPlan):
            Floor(text)


def test_new_plan():
    assert route(Floor(NEW)) is None
