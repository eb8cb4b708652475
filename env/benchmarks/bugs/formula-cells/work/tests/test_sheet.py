# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from sheet import CircularReference, FormulaError, Sheet


def value(content, **cells):
    sheet = Sheet()
    for name, text in cells.items():
        sheet.set(name, text)
    sheet.set("Z1", content)
    return sheet.value("Z1")


def test_numbers_and_cells():
    assert value("=5-3") == 2
    assert value("=A1*(B2+1)", A1="4", B2="=A1/2") == 12
    assert value("=2^3^2") == 512


def test_negative_number():
    assert value("=-3") == -3
    assert value("=2*-A1", A1="5") == -10


def test_errors():
    for text in ("=1+", "=(1", "=1 2", "=$"):
        with pytest.raises(FormulaError):
            value(text)


def test_circle():
    with pytest.raises(CircularReference, match="Z1 -> A1 -> Z1"):
        value("=A1", A1="=Z1+1")
