# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from sheet import CircularReference, FormulaError, Sheet, parse


def calc(text):
    return parse(text)(lambda name: {"A1": 4.0, "B2": -2.0}[name])


@pytest.mark.parametrize(
    "text, result",
    [
        ("-3", -3), ("+3", 3), ("--3", 3), ("-+-3", 3), ("---3", -3),
        ("5--3", 8), ("5-+3", 2), ("5+-3", 2), ("-A1*-B2", -8), ("-(1+2)", -3), ("-(-(-2))", -2),
        ("2^-1", 0.5), ("-2^2", -4), ("(-2)^2", 4), ("2^--2", 4), ("8/-4/-2", 1), ("-1-1", -2),
        ("10-3-2", 5), ("100/10/2", 5), ("2+3*4^2", 50),
    ],
)
def test_signs(text, result):
    assert calc(text) == result


@pytest.mark.parametrize("text", ["-", "1-", "2*-", "()", "-)", "1^", "* 2", "1 -- "])
def test_what_is_no_formula(text):
    with pytest.raises(FormulaError):
        parse(text)


def test_negative_plain_number_and_empty_cell():
    sheet = Sheet()
    sheet.set("A1", "-2.5")
    sheet.set("B1", "=-A1-C1")
    assert sheet.value("B1") == 2.5


def test_circle_with_signs():
    sheet = Sheet()
    sheet.set("A1", "=-B1")
    sheet.set("B1", "=2*-A1")
    with pytest.raises(CircularReference):
        sheet.value("A1")


def test_sheet_is_not_circular_when_a_cell_is_used_twice():
    sheet = Sheet()
    sheet.set("A1", "-1")
    sheet.set("B1", "=A1+A1")
    sheet.set("C1", "=-B1*-A1")
    assert sheet.value("C1") == 2


def made(chance, depth):
    """A formula, and the same as Python writes it."""
    kind = chance.randint(0, 6) if depth else 0
    if kind == 0:
        return chance.choice([("1", "1.0"), ("2", "2.0"), ("3.5", "3.5"), ("A1", "4.0"), ("B2", "(-2.0)")])
    if kind == 1:
        text, python = made(chance, depth - 1)
        return f"({text})", f"({python})"
    if kind == 2:
        sign = chance.choice(["-", "+", "--", "-+-", "- "])
        text, python = made(chance, depth - 1)
        return sign + text, sign + python
    if kind == 3:
        text, python = made(chance, 0)
        power = chance.choice(["2", "-1", "--2", "-2^0", "(1-2)"])
        return f"{text}^{power}", f"{python}**{power.replace('^', '**')}"
    sign = chance.choice("+-*/")
    (left, one), (right, other) = made(chance, depth - 1), made(chance, depth - 1)
    return f"{left} {sign} {right}", f"{one} {sign} {other}"


def test_like_python():
    chance = random.Random(6)
    for _ in range(600):
        text, python = made(chance, 4)
        try:
            expected = eval(python)
        except ZeroDivisionError:
            with pytest.raises(ZeroDivisionError):
                calc(text)
        else:
            assert calc(text) == pytest.approx(expected), text


@pytest.mark.parametrize("text, result", [("-2^-2", -0.25), ("2^-2^2", 0.0625), ("2^3^2", 512), ("-(2)^2*3", -12), ("6/-3*2", -4)])
def test_signs_beside_powers(text, result):
    assert calc(text) == result
