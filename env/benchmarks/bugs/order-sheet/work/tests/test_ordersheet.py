# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from ordersheet import Order, print_order
from ordersheet.rows import MissingColumn

LINES = [("lamp", 2, 1995), ("bulb", 5, 199)]


def test_member():
    order = Order({"number": 7}, {"name": "Ann", "since": 2019, "bought": 450_00}, LINES)
    assert print_order(order) == [
        "Order 7 for Ann (member since 2019)", "2 x lamp: 39.90", "5 x bulb: 9.95", "Discount: -2.49", "Total: 47.36"]


def test_new_member():
    order = Order({"number": 8}, {"name": "Bob", "since": 2024, "bought": 0}, LINES)
    assert print_order(order)[-1] == "Total: 49.85"


def test_guest():
    order = Order({"number": 9}, {"name": "Cy"}, LINES)
    assert print_order(order) == ["Order 9 for Cy (guest)", "2 x lamp: 39.90", "5 x bulb: 9.95", "Total: 49.85"]


def test_missing_column():
    with pytest.raises(MissingColumn):
        Order({"number": 9}, {"name": "Cy"}, LINES).note
