# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from bill import BadNumber, bill, parse
from bill.calls import MAY
from bill.text import lines


def test_the_bill_of_may() -> None:
    assert bill(MAY).total == 134218


def test_numbers() -> None:
    assert parse("+49 30 1234567") == ("DE", "301234567")
    assert parse("0041/44 668 18 00") == parse("+41446681800")
    assert parse("030 1234567").country == "DE"
    for text in ("", "12", "+4x", "0"):
        with pytest.raises(BadNumber):
            parse(text)


def test_the_company_network_is_free() -> None:
    made = bill([("2031-05-01", "+999123456", 600, False), ("2031-05-01", "+41446681800", 61, False)])
    assert (made.total, made.calls, made.free) == (58, 2, 1)


def test_the_dearest_comes_first() -> None:
    calls = [("2031-05-01", "+41446681800", 61, False), ("2031-05-01", "+33144668180", 6000, True)]
    assert [line.split()[0] for line in lines(bill(calls))] == ["France", "Switzerland", "Total"]
