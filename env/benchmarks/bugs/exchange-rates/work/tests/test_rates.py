# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from decimal import Decimal

from rates import RateTable, import_rates


def test_convert():
    table = RateTable()
    import_rates(["USD = 1.25", "# a comment", "JPY = 160.5"], table)
    assert table.convert(Decimal("10"), "USD", "JPY") == Decimal("1284")


def test_unknown_currency():
    report = import_rates(["USD = 1.25", "XXX = 3", "GBP = 0.85"], RateTable())
    assert (report.taken, report.left_out) == (2, [(2, "XXX = 3")])


def test_misprinted_number():
    table = RateTable()
    report = import_rates(["USD = 1.25", "CHF = 0,,95", "GBP = 0.85"], table)
    assert (report.taken, report.left_out) == (2, [(2, "CHF = 0,,95")])
    assert table.known() == ["EUR", "GBP", "USD"]
