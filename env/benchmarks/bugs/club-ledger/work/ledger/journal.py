# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reading the journal."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Tuple


@dataclass(frozen=True)
class Posting:
    """An amount in cents that goes to an account, negative if it leaves it."""

    account: str
    cents: int


@dataclass(frozen=True)
class Entry:
    """A dated entry; its postings sum to zero."""

    date: str
    text: str
    postings: Tuple[Posting, ...]


def parse_cents(text: str) -> int:
    """Read `12.50` or `-3` as cents."""
    sign = -1 if text.startswith("-") else 1
    whole, _, part = text.lstrip("-").partition(".")
    return sign * (int(whole) * 100 + int((part + "00")[:2]))


def parse_journal(text: str) -> List[Entry]:
    """Read entries.

    An entry is a line `date text` followed by indented lines `account amount`.
    One posting of an entry may lack the amount and gets what is missing to
    zero. An entry that does not sum to zero raises ValueError.
    """
    entries: List[Entry] = []
    for block in text.strip().split("\n\n"):
        head, *rows = block.splitlines()
        date, _, title = head.partition(" ")
        found: List[Tuple[str, Optional[int]]] = []
        for row in rows:
            words = row.split()
            found.append((words[0], parse_cents(words[1]) if len(words) > 1 else None))
        missing = -sum(cents for _, cents in found if cents is not None)
        open_rows = [account for account, cents in found if cents is None]
        if len(open_rows) > 1 or (missing and not open_rows):
            raise ValueError("entry does not balance: " + head)
        postings = tuple(Posting(a, missing if c is None else c) for a, c in found)
        entries.append(Entry(date, title, postings))
    return entries
