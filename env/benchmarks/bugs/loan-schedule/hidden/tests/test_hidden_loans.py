# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import json
from decimal import Decimal

import pytest

from loans import Loan, Rate, load_products, schedule, total_interest


@pytest.mark.parametrize("rate", [0.06, 0.0725, 0.1, 0.035, 0.0001, 1e-05, 0.3])
def test_rate_as_float_is_the_rate_as_written(rate):
    assert Rate.of(rate).yearly == Decimal(repr(rate))


@pytest.mark.parametrize("amount", [1001, 1003, 1005, 1007, 2001, 9999])
def test_half_cents_with_float_rate(amount):
    by_hand = schedule(Loan.of(str(amount), "6%", 6))
    from_file = schedule(load_products(json.dumps({"x": {"amount": amount, "rate": 0.06, "months": 6}}))["x"])
    assert from_file == by_hand
    assert from_file[0].interest == (Decimal(amount) * 5 + 5) // 10 / 100 if amount % 2 else True


@pytest.mark.parametrize("amount, cents", [(1.005, "1.01"), (2.675, "2.68"), (1000.125, "1000.13"), (0.115, "0.12")])
def test_amounts_as_float(amount, cents):
    assert Loan.of(amount, 0, 1).amount == Decimal(cents)


def test_rate_that_lies_above_as_float():
    # 0.0599 as a binary fraction is not exactly what is written either
    assert Rate.of(0.0599) == Rate.of("0.0599") == Rate.of("5.99 %")
    assert Rate.of(Decimal("0.0599")) == Rate.of(0.0599)


def test_just_below_half_a_cent_goes_down():
    assert Rate.of("0.0599999").monthly_interest(Decimal("1001")) == Decimal("5.00")
    assert Rate.of(0.0599999).monthly_interest(Decimal("1001")) == Decimal("5.00")
    assert Rate.of("0.05999999999").monthly_interest(Decimal("1001")) == Decimal("5.00")


def test_whole_schedule():
    lines = schedule(Loan.of(1000, 0.12, 3))
    assert [str(line.payment) for line in lines] == ["340.02", "340.02", "340.03"]
    assert [str(line.interest) for line in lines] == ["10.00", "6.70", "3.37"]
    assert total_interest(Loan.of(1000, 0.12, 3)) == Decimal("20.07")


def test_truth_value_is_no_rate():
    with pytest.raises(TypeError):
        Rate.of(True)


def test_interest_of_the_first_month():
    products = load_products(json.dumps({
        "small": {"amount": 1001, "rate": 0.06, "months": 6}, "large": {"amount": 2001, "rate": 0.06, "months": 6},
    }))
    assert str(schedule(products["small"])[0].interest) == "5.01"
    assert str(schedule(products["large"])[0].interest) == "10.01"


def test_rates_as_text():
    assert str(Rate.of(0.0725).yearly) == "0.0725"
    assert str(Rate.of(0.1).yearly) == "0.1"
    assert str(Rate.of(0.06).monthly_interest(Decimal("1003"))) == "5.02"
