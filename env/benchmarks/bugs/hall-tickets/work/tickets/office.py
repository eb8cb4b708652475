# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The ticket office."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, List

from .hall import Hall, Taken
from .payment import Bank


@dataclass(frozen=True)
class Ticket:
    """A ticket that was paid."""

    customer: str
    seat: str


class Office:
    """Sells tickets to many customers at the same time."""

    def __init__(self, hall: Hall, bank: Bank) -> None:
        self.hall = hall
        self.bank = bank
        self.tickets: List[Ticket] = []

    async def buy(self, customer: str, seat: str) -> Ticket:
        """Sell a seat. A customer pays only for a seat that is hers or his afterwards.

        Taken if somebody else has the seat or is about to pay for it; if paying fails the seat is free again.
        """
        if not self.hall.is_free(seat):
            raise Taken(seat)
        await self.bank.charge(customer, self.hall.prices[seat])
        if self.hall.is_free(seat):
            self.hall.hold(seat, customer)
            self.hall.sell(seat)
        ticket = Ticket(customer, seat)
        self.tickets.append(ticket)
        return ticket

    async def buy_any(self, customer: str, seats: Iterable[str]) -> Ticket:
        """Sell the first of the seats that can be had; Taken if there is none."""
        for seat in seats:
            try:
                return await self.buy(customer, seat)
            except Taken:
                continue
        raise Taken("all of them")
