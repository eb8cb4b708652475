# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from sheet import Circular, Sheet, SheetError, rooms, total


def test_the_bill() -> None:
    assert total(Sheet()) == 11251.67


def test_a_room_with_and_one_without_a_surcharge() -> None:
    found = rooms(Sheet())
    assert found["Office South"] == (2441.0, 149.0, 774.59)
    assert found["Office North"].surcharge == 0


def test_the_check_of_the_sheet() -> None:
    assert Sheet().value("N27") == 0


def test_formulas() -> None:
    sheet = Sheet("A1: 2\nA2: =A1*(3+A1)-1\nA3: =IF(A2>8,SUM(A1:A2),0)\nA4: =A5\nA5: =A4")
    assert sheet.value("A3") == 11
    with pytest.raises(Circular):
        sheet.value("A4")
    sheet.set("A5", "=1/0")
    with pytest.raises(SheetError):
        sheet.value("A4")
