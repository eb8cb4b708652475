# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from rota import Rota, RotaError


def test_saturday():
    rota = Rota(days=("fri", "sat", "sun"))
    rota.sign_up("ann", 1, "sat")
    assert rota.lines(1) == ["fri: -", "sat: ann", "sun: -"]


def test_closed_day():
    with pytest.raises(RotaError):
        Rota(days=("sat",)).sign_up("ann", 1, "mon")


def test_empty_week():
    assert Rota(places=3, days=("sat", "sun")).open_places(4) == {"sat": 3, "sun": 3}
