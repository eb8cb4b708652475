# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Booking a trip."""
from __future__ import annotations

from typing import List, Sequence

from .partners import Cards, Company
from .saga import Saga
from .steps import Context, Step


def book(customer: str, amount: int, cards: Cards, companies: Sequence[Company]) -> Context:
    """Charge the card and book with all companies, in order; return the notes of the trip. All or nothing."""
    steps: List[Step] = [
        Step("charge", lambda c: cards.charge(customer, amount), lambda c: cards.refund(customer, amount)),
        Step("note", lambda c: c.setdefault("notes", []).append(f"trip of {customer}")),
    ]
    for company in companies:
        steps.append(_booking(company, customer))
    context: Context = {}
    Saga(steps).run(context)
    return context


def _booking(company: Company, customer: str) -> Step:
    def do(context: Context) -> None:
        company.book(customer)
        context["notes"].append(f"{company.name} booked")

    return Step(company.name, do, lambda context: company.cancel(customer))
