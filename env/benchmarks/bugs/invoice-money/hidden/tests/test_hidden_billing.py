# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from billing import Entry, Money, currency, print_statement


@pytest.mark.parametrize(
    "coins, code, text",
    [
        (-50, "EUR", "-0.50 EUR"),
        (-1, "USD", "-0.01 USD"),
        (-99, "EUR", "-0.99 EUR"),
        (-101, "EUR", "-1.01 EUR"),
        (-100, "EUR", "-1.00 EUR"),
        (-123456789, "EUR", "-1234567.89 EUR"),
        (-(10**20) - 7, "EUR", "-1000000000000000000.07 EUR"),
        (-5, "KWD", "-0.005 KWD"),
        (-1250, "KWD", "-1.250 KWD"),
        (-7, "JPY", "-7 JPY"),
        (0, "EUR", "0.00 EUR"),
        (5, "EUR", "0.05 EUR"),
        (0, "JPY", "0 JPY"),
        (12345, "KWD", "12.345 KWD"),
    ],
)
def test_writing(coins, code, text):
    assert str(Money(coins, currency(code))) == text


@pytest.mark.parametrize("code", ["EUR", "JPY", "KWD"])
def test_round_trip(code):
    for coins in list(range(-1203, 1204, 7)) + [-(10**18) - 1]:
        money = Money(coins, currency(code))
        assert Money.parse(str(money)) == money


def test_negative_balance():
    usd = currency("USD")
    last = print_statement(usd, [Entry("Refund", Money(-75, usd))], width=20).split("\n")[-1]
    assert last == "Balance    -0.75 USD"


def test_negating_changes_the_sign_only():
    money = Money.parse("19.99 USD")
    assert str(-money) == "-" + str(money)
    assert str(-(-money)) == str(money)


def test_reading():
    assert Money.parse("-0.50 EUR").coins == -50
    assert Money.parse("3 kwd").coins == 3000
    for text in ("1.234 EUR", "1.5 JPY", "EUR 5", "--1 EUR"):
        with pytest.raises(ValueError):
            Money.parse(text)
