# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Balances and statements."""
from __future__ import annotations

from typing import Dict, List, Sequence, Tuple

from ledger.accounts import is_within, with_groups
from ledger.journal import Entry


def balance(entries: Sequence[Entry], group: str, until: str = "9999") -> int:
    """Sum in cents of a group's accounts over the entries up to a date, inclusive."""
    return sum(
        posting.cents
        for entry in entries
        if entry.date <= until
        for posting in entry.postings
        if is_within(posting.account, group)
    )


def balances(entries: Sequence[Entry]) -> Dict[str, int]:
    """The balance of each account and each group."""
    used = (posting.account for entry in entries for posting in entry.postings)
    return {name: balance(entries, name) for name in with_groups(used)}


def statement(entries: Sequence[Entry], group: str) -> List[Tuple[str, str, int, int]]:
    """(date, text, change, balance after it) of each entry that changes the group's balance."""
    rows = []
    total = 0
    for entry in sorted(entries, key=lambda e: e.date):
        change = sum(p.cents for p in entry.postings if is_within(p.account, group))
        if change:
            total += change
            rows.append((entry.date, entry.text, change, total))
    return rows
