# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from datetime import date

import pytest

from doses import make_plan

DAY = date(2024, 3, 1)


def test_quarters():
    plan = make_plan(DAY, 0.25, 1.0, 0.25)
    assert plan.rising == (0.25, 0.5, 0.75)
    assert [plan.dose(date(2024, 3, d)) for d in (1, 8, 21, 22)] == [0.25, 0.5, 0.75, 1.0]


def test_tenths():
    assert make_plan(DAY, 0.1, 0.8, 0.1, days=1).lines() == [
        f"from 2024-03-0{d}: 0.{d} ml" for d in range(1, 8)
    ] + ["from 2024-03-08: 0.8 ml, full dose"]


def test_total():
    assert make_plan(DAY, 0.5, 1.5, 0.5, days=2).total(date(2024, 3, 6)) == 4.5


def test_senseless():
    with pytest.raises(ValueError):
        make_plan(DAY, 0.1, 0.5, 0)
