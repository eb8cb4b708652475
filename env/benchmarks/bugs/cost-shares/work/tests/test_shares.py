# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from shares import Bill, House, split

HOUSE = House(
    {
        "left": {"area": 50, "people": 1},
        "right": {"area": 70, "people": 3},
        "attic": {"area": 30},
    }
)


def test_even():
    assert HOUSE.settle([Bill("heat", 1500, "area"), Bill("water", 400, "people")]) == {"left": 600, "right": 1000, "attic": 300}


def test_bills_close():
    assert HOUSE.settle([Bill("heat", 1516, "area"), Bill("lift", 150, "area")]) == {"left": 555, "right": 778, "attic": 333}


def test_credit():
    assert HOUSE.settle([Bill("heat", 1500, "area"), Bill("back", -2, "people")])["right"] == 699


def test_weights():
    assert split(7, [1, 0]) == [7, 0]
    with pytest.raises(ValueError):
        split(5, [0, 0])
