# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from itertools import permutations

import pytest

from circuit import Circuit, NotDetermined
from circuit.solve import solve


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_order_of_the_parts_does_not_matter(order):
    c = Circuit()
    parts = [
        lambda: c.source("0", "a", 9.0),
        lambda: c.source("b", "a", 4.0),
        lambda: c.source("c", "b", 1.5),
        lambda: c.resistor("c", "0", 10),
    ]
    for number in order:
        parts[number]()
    assert c.voltages() == pytest.approx({"a": -9.0, "b": -5.0, "c": -3.5})


def test_negative_coefficients():
    assert solve([[0.0, -1.0, 2.0], [-2.0, 0.0, 4.0]]) == pytest.approx([-2.0, -2.0])
    assert solve([[-1.0, 0.0, 3.0], [0.0, -1.0, 4.0]]) == pytest.approx([-3.0, -4.0])


def test_small_coefficient_in_front():
    assert solve([[1e-11, 1.0, 1.0], [-1.0, 1.0, 2.0]]) == pytest.approx([-1.0, 1.0], abs=1e-9)
    assert solve([[1e-11, 1.0, 1.0], [1.0, 1.0, 2.0]]) == pytest.approx([1.0, 1.0], abs=1e-9)


def test_precise_when_coefficients_differ_in_size():
    x, y = solve([[1e-11, 1.0, 1.0], [-3.0, 2.0, 5.0]])
    assert x == pytest.approx(-1.0, abs=1e-9) and y == pytest.approx(1.0, abs=1e-9)


def test_truly_not_determined():
    for rows in ([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]], [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0]]):
        with pytest.raises(NotDetermined):
            solve(rows)


def test_rows_are_left_alone():
    rows = [[-2.0, 4.0]]
    assert solve(rows) == [-2.0] and rows == [[-2.0, 4.0]]
