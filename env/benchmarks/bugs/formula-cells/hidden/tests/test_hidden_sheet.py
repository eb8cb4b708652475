# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

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
