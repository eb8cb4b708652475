# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from warehouse import Floor, Trapped, reachable, ride, route
from warehouse.planner import moves, traps


def rest(floor, place):
    try:
        return ride(floor, place)
    except Trapped:
        return "trapped"


def test_ways_into_a_circle():
    floor = Floor(
        """
        A>>>v
        .^.^<
        >^..B
        """
    )
    assert rest(floor, (2, 0)) == "trapped"
    assert rest(floor, (0, 1)) == "trapped"
    assert rest(floor, (0, 3)) == "trapped"
    assert traps(floor) == {(0, 1), (0, 2), (0, 3), (0, 4), (1, 1), (1, 3), (1, 4), (2, 0), (2, 1)}


def test_belts_that_face_each_other():
    floor = Floor("A>><B\n.....")
    assert rest(floor, (0, 1)) == "trapped"
    assert rest(floor, (0, 2)) == "trapped"
    assert rest(floor, (0, 3)) == "trapped"
    assert route(floor) == "SEEEEN"


def test_long_way_into_a_short_circle():
    belts = ">" * 200
    floor = Floor(f"A{belts}<B\n" + "." * 203)
    assert rest(floor, (0, 1)) == "trapped"
    assert len(reachable(floor)) == 2 + 203


def test_belts_with_an_end():
    floor = Floor("A>>v#\n#.#>B\n#.#..")
    assert rest(floor, (0, 1)) == (1, 4)
    assert route(floor) == "E"


def test_long_belt_without_a_circle():
    floor = Floor("A" + ">" * 500 + "B")
    assert rest(floor, (0, 1)) == (0, 501)
    assert route(floor) == "E"


def test_belt_against_a_wall_or_the_edge():
    floor = Floor("A.B\n>>#\nv.^")
    assert rest(floor, (1, 0)) == (1, 1)
    assert rest(floor, (2, 0)) == (2, 0)
    assert rest(floor, (2, 2)) == (2, 2)
    assert moves(floor, (1, 1)) == {"N": (0, 1), "S": (2, 1), "W": (1, 1)}


def test_snail():
    floor = Floor(
        """
        >>>>v
        ^>>v<
        A^<<B
        """
    )
    assert rest(floor, (0, 0)) == "trapped"
    assert route(floor) is None
