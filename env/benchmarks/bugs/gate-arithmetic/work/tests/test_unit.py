# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from unit import BadCircuit, Circuit, Unit
from unit.accounts import TooLarge, largest, times, total


@pytest.fixture(scope="module")
def unit() -> Unit:
    return Unit()


def test_the_accounts_of_march(unit: Unit) -> None:
    assert total(unit, [512, 640, 897, 1023, 31]) == 3103
    assert total(unit, [1535, 1, 1024]) == 2560


def test_small_numbers(unit: Unit) -> None:
    assert unit.run("add", 12, 30) == (42, False, False)
    assert unit.run("subtract", 3, 5) == (65534, False, False)
    assert times(unit, 12, 12) == 144


def test_differences(unit: Unit) -> None:
    assert unit.run("subtract", 30, 30) == (0, True, True)
    assert largest(unit, [3, 9, 7]) == 9


def test_bit_by_bit(unit: Unit) -> None:
    a, b = 0b1010101001010101, 0b1100110000110011
    assert [unit.run(name, a, b).value for name in ("and", "or", "xor")] == [a & b, a | b, a ^ b]
    assert unit.run("left", 0x8001).value == 2 and unit.run("right", 0x8001).value == 0x4000


def test_what_cannot_be(unit: Unit) -> None:
    with pytest.raises(TooLarge):
        total(unit, [40000, 40000])
    with pytest.raises(BadCircuit):
        Circuit("x = AND a x", ["a"])
