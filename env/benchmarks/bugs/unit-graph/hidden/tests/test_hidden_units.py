# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

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
