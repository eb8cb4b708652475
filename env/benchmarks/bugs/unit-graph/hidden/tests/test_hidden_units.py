# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random
from fractions import Fraction

import pytest

from units import Converter, Line, standard


@pytest.mark.parametrize("number, unit, other, expected", [
    (32, "F", "C", 0), (32, "F", "K", 273.15), (0, "K", "F", -459.67), (-459.67, "F", "K", 0), (50, "C", "F", 122), (300, "K", "F", 80.33),
    (5, "C", "C", 5),
])
def test_temperatures(number, unit, other, expected):
    assert standard().convert(number, unit, other) == expected


def test_inverse_of_any_line():
    for factor in (Fraction(2), Fraction(-3, 7), Fraction(1)):
        for offset in (Fraction(0), Fraction(5), Fraction(-1, 3)):
            line = Line(factor, offset)
            assert line.then(line.inverse()) == line.inverse().then(line) == Line()
            assert line.inverse().inverse() == line


def test_then_is_in_order():
    assert Line(Fraction(2), Fraction(1)).then(Line(Fraction(3), Fraction(5)))(Fraction(1)) == 14


def test_chains_there_and_back():
    converter = Converter()
    converter.define("a", "b", 2, 3)
    converter.define("c", "b", 5, -1)
    converter.define("c", "d", "0.5", 7)
    for x in (-2, 0, 11):
        assert converter.line("d", "a")(converter.line("a", "d")(Fraction(x))) == x
    assert converter.convert(1, "a", "d") == 7.6


def test_weights():
    assert standard().convert(1, "pound", "kg") == 0.45359237
    assert standard().convert(1, "kg", "g") == 1000


NUMBERS = [Fraction(1), Fraction(-1), Fraction(7), Fraction(1, 10**9), Fraction(-(10**15) - 1, 3), Fraction(6789, 12345678901), Fraction(22, 7)]


def test_ways_back_are_exact():
    for factor in NUMBERS:
        for offset in [Fraction(0), *NUMBERS]:
            line = Line(factor, offset)
            back = line.inverse()
            for x in (Fraction(0), Fraction(1), Fraction(-5, 3), Fraction(10**20)):
                assert back(line(x)) == line(back(x)) == x
            assert (line.factor, line.offset) == (factor, offset)


@pytest.mark.parametrize("factor", ["1.2345", "0.000001", 3, -2, 0.1, 1e-7, 1e12, Fraction(5, 9), "12345678.87654321"])
@pytest.mark.parametrize("offset", ["0.6789", 0, -40, 1e-9, "1e-15", 98765.4321, Fraction(-160, 9), Fraction(1, 123456789)])
def test_definitions_there_and_back(factor, offset):
    converter = Converter()
    converter.define("a", "b", factor, offset)
    converter.define("c", "b", offset or 1, factor)
    exact = [number if isinstance(number, Fraction) else Fraction(str(number)) for number in (factor, offset, offset or 1)]
    there, back = converter.line("a", "b"), converter.line("b", "a")
    for x in (Fraction(0), Fraction(212), Fraction(-1, 3)):
        assert there(x) == exact[0] * x + exact[1]
        assert back(x) == (x - exact[1]) / exact[0]
        assert converter.line("a", "c")(x) == (there(x) - exact[0]) / exact[2]
        assert converter.line("c", "a")(converter.line("a", "c")(x)) == x
    assert converter.convert(exact[1], "b", "a") == 0


def test_chains_of_any_definitions():
    chance = random.Random(10)
    for _ in range(60):
        converter, values = Converter(), {"u0": Fraction(chance.randint(-999, 999), chance.randint(1, 99))}
        for number in range(1, 6):
            known, new = f"u{chance.randrange(number)}", f"u{number}"
            factor = Fraction(chance.choice([-7, 1, 3, 10**6 + 3]), chance.randint(1, 10**8))
            offset = Fraction(chance.randint(-9, 9), chance.randint(1, 10**8))
            if chance.random() < 0.5:
                converter.define(known, new, factor, offset)
                values[new] = factor * values[known] + offset
            else:
                converter.define(new, known, factor, offset)
                values[new] = (values[known] - offset) / factor
        for one, value in values.items():
            for other, expected in values.items():
                assert converter.line(one, other)(value) == expected
                assert converter.convert(value, one, other) == float(expected)
