# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from unit import Unit
from unit.accounts import largest, times, total


@pytest.fixture(scope="module")
def unit() -> Unit:
    return Unit()


@pytest.mark.parametrize("bit", range(16))
def test_a_carry_goes_through_every_bit(unit: Unit, bit: int) -> None:
    ones = (1 << bit) - 1
    assert unit.run("add", ones, 1) == (1 << bit, False, False)
    assert unit.run("add", ones, ones).value == 2 * ones
    assert unit.run("subtract", 1 << bit, 1).value == ones
    assert unit.run("add", 0xFFFF, 1 << bit) == ((1 << bit) - 1, bit == 0, True)


@pytest.mark.parametrize("bit", range(1, 16))
def test_a_carry_goes_over_two_bits(unit: Unit, bit: int) -> None:
    low = 1 << bit - 1
    assert unit.run("add", 3 * low, low).value == 4 * low % 65536
    assert unit.run("less", low, 3 * low & 0xFFFF).value == (low < (3 * low & 0xFFFF))
    assert unit.run("less", 2 * low, low).value == 0


def test_numbers_by_chance(unit: Unit) -> None:
    chance = random.Random(11)
    for _ in range(300):
        a, b = chance.getrandbits(16), chance.getrandbits(16)
        assert unit.run("add", a, b) == ((a + b) % 65536, (a + b) % 65536 == 0, a + b > 65535)
        assert unit.run("subtract", a, b) == ((a - b) % 65536, a == b, a >= b)
        assert unit.run("less", a, b).value == (a < b)


def test_products_and_sums(unit: Unit) -> None:
    assert times(unit, 1023, 3) == 3069
    assert times(unit, 255, 255) == 65025
    assert total(unit, [1024, 512, 256, 256, 2048]) == 4096
    assert largest(unit, [1024, 2047, 2046, 1536]) == 2047


def test_the_longest_way(unit: Unit) -> None:
    assert unit.circuit.delay("carry") == 39
    assert len(unit.circuit.gates) == 373
