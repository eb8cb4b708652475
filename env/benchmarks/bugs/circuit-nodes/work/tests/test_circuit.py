# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from circuit import Circuit, NotDetermined


def test_divider():
    c = Circuit()
    c.source("in", "0", 10.0)
    c.resistor("in", "out", 1000)
    c.resistor("out", "0", 3000)
    assert c.voltages() == pytest.approx({"in": 10.0, "out": 7.5})


def test_two_batteries():
    c = Circuit()
    c.source("0", "low", 5.0)
    c.source("high", "low", 12.0)
    c.resistor("high", "0", 100)
    assert c.voltages() == pytest.approx({"low": -5.0, "high": 7.0})


def test_current():
    c = Circuit()
    c.current("0", "a", 0.5)
    c.resistor("a", "b", 2)
    c.resistor("b", "0", 4)
    assert c.voltages() == pytest.approx({"a": 3.0, "b": 2.0})


def test_loose_node():
    c = Circuit()
    c.resistor("a", "b", 5)
    with pytest.raises(NotDetermined):
        c.voltages()
