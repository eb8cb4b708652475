# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from billing import Entry, Money, currency, print_statement

EUR = currency("EUR")


def test_statement():
    entries = [Entry("Repair", Money(12050, EUR)), Entry("Parts", Money(995, EUR))]
    assert print_statement(EUR, entries, width=20).split("\n") == [
        "Repair    120.50 EUR",
        "Parts       9.95 EUR",
        "--------------------",
        "Balance   130.45 EUR",
    ]


def test_statement_with_a_refund():
    entries = [Entry("Repair", Money(12050, EUR)), Entry("Refund", Money.parse("-1.50 EUR")), Entry("Back", Money(-2000, EUR))]
    assert print_statement(EUR, entries, width=20).split("\n") == [
        "Repair    120.50 EUR",
        "Refund     -1.50 EUR",
        "Back      -20.00 EUR",
        "--------------------",
        "Balance    99.00 EUR",
    ]


def test_split():
    assert [m.coins for m in Money(-100, EUR).split(3)] == [-34, -33, -33]
    assert sum((m.coins for m in Money(101, EUR).split(4))) == 101


def test_currencies_do_not_mix():
    with pytest.raises(ValueError):
        Money(1, EUR) + Money(1, currency("JPY"))
