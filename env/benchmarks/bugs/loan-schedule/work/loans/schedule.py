# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The schedule: equal payments at the end of each month."""
from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from .products import Loan
from .rates import cents


@dataclass(frozen=True)
class Line:
    """One month: what is paid, the interest in it, what is repaid and what is still owed."""

    number: int
    payment: Decimal
    interest: Decimal
    repaid: Decimal
    balance: Decimal


def payment_of(loan: Loan) -> Decimal:
    """The equal monthly payment of a loan."""
    rate = loan.rate.yearly / 12
    if not rate:
        return cents(loan.amount / loan.months)
    return cents(loan.amount * rate / (1 - (1 + rate) ** -loan.months))


def schedule(loan: Loan) -> list[Line]:
    """The lines of all the months; the last payment settles what is owed to the cent."""
    payment = payment_of(loan)
    balance = loan.amount
    lines = []
    for number in range(1, loan.months + 1):
        interest = loan.rate.monthly_interest(balance)
        if number == loan.months:
            payment = balance + interest
        repaid = payment - interest
        balance -= repaid
        lines.append(Line(number, payment, interest, repaid, balance))
    return lines


def total_interest(loan: Loan) -> Decimal:
    """All the interest paid over the time of the loan."""
    return sum((line.interest for line in schedule(loan)), Decimal("0.00"))
