# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import copy

import pytest

from ordersheet import Order, print_order
from ordersheet import discounts
from ordersheet.customers import Guest, customer
from ordersheet.rows import MissingColumn, Row


def order(buyer, *lines):
    return Order({"number": 1, "note": "ring"}, buyer, list(lines))


@pytest.mark.parametrize("price, discount", [(0, 0), (1, 0), (999_99, 0), (5000_00, 0)])
def test_guests_get_nothing(price, discount):
    one = order({"name": "x"}, ("a", 1, price))
    assert (one.discount, one.total) == (discount, price)


@pytest.mark.parametrize("bought, discount", [(0, 0), (299_99, 0), (300_00, 10), (999_99, 10), (1000_00, 20), (9999_00, 20)])
def test_members(bought, discount):
    one = order({"name": "x", "since": 2000, "bought": bought}, ("a", 2, 100))
    assert one.discount == discount


def test_welcome_discount_for_everybody(monkeypatch):
    monkeypatch.setattr(discounts, "LEVELS", [(300_00, 5), (0, 2)])
    assert order({"name": "x"}, ("a", 1, 1000)).discount == 20
    assert order({"name": "x", "since": 1, "bought": 10}, ("a", 1, 1000)).discount == 20


def test_member_without_the_column_bought():
    with pytest.raises(AttributeError):
        order({"name": "x", "since": 2000}, ("a", 1, 5)).discount


def test_columns_still_read_and_missing_ones_refused():
    one = order({"name": "x"})
    assert (one.number, one.note, one.total) == (1, "ring", 0)
    with pytest.raises(MissingColumn):
        one.colour
    assert getattr(one, "colour", "none") == "none"


def test_rows_can_be_copied():
    assert copy.copy(Row({"a": 1})).a == 1


def test_guest():
    guest = customer({"name": "Eve"})
    assert isinstance(guest, Guest)
    assert print_order(order({"name": "Eve"}))[0] == "Order 1 for Eve (guest)"
