# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Invoices and refunds in several currencies."""
from __future__ import annotations

from .currency import Currency, currency
from .money import Money
from .statement import Entry, print_statement

__all__ = ["Currency", "Entry", "Money", "currency", "print_statement"]
