# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from decimal import Decimal

import pytest

from darkroom import BadFormula, UnknownElement, bath, from_moles, mole, moles, parse
from darkroom.shelf import SHELF


def test_toner_from_moles() -> None:
    made = from_moles("selenium toner", {"selenious acid": "31", "sulphite": "1190"})
    assert made.weight == Decimal("153.983")


def test_developer_in_moles() -> None:
    assert moles(bath("developer", "2"))["metol"] == Decimal("11.62")


def test_weights() -> None:
    assert mole(SHELF["alum"]) == Decimal("474.372")
    assert mole(SHELF["prussian blue"]) == Decimal("859.239")


def test_formulas() -> None:
    assert parse("Fe4(Fe(CN)6)3") == {"Fe": 7, "C": 18, "N": 18}
    for formula in ("", "(", "H2)", "2H", "h2"):
        with pytest.raises(BadFormula):
            parse(formula)
    with pytest.raises(UnknownElement):
        mole("Xx2")
