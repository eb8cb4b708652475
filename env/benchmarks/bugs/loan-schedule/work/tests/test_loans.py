# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from decimal import Decimal

import pytest

from loans import Loan, load_products, schedule, total_interest


def test_schedule_ends_at_nothing():
    lines = schedule(Loan.of("12000", "5 %", 24))
    assert len(lines) == 24
    assert lines[0].interest == Decimal("50.00")
    assert lines[-1].balance == 0
    assert sum(line.repaid for line in lines) == 12000


def test_half_a_cent_goes_up():
    assert schedule(Loan.of("1001", "0.06", 12))[0].interest == Decimal("5.01")


def test_product_file():
    loans = load_products('{"small": {"amount": 1001, "rate": 0.06, "months": 12}}')
    assert schedule(loans["small"])[0].interest == Decimal("5.01")


def test_no_interest():
    loan = Loan.of(100, 0, 3)
    assert [line.payment for line in schedule(loan)] == [Decimal("33.33"), Decimal("33.33"), Decimal("33.34")]
    assert total_interest(loan) == 0


def test_wrong_values():
    with pytest.raises(ValueError):
        Loan.of(100, "0.05", 0)
