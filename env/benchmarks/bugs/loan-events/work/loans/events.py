# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What can happen to a member's account."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Union

State = Dict[str, Any]


@dataclass(frozen=True)
class Borrowed:
    """A book was lent until a day."""

    book: str
    due: int


@dataclass(frozen=True)
class Returned:
    """A book came back; after the due day each day costs a fee of 10."""

    book: str
    day: int


@dataclass(frozen=True)
class Reserved:
    """A book was reserved at a branch."""

    book: str
    branch: str


@dataclass(frozen=True)
class Paid:
    """The oldest open fee was paid."""


Event = Union[Borrowed, Returned, Reserved, Paid]


def blank() -> State:
    """The account of a new member."""
    return {"lent": {}, "fees": [], "reserved": {}, "count": 0}


def apply(state: State, event: Event) -> State:
    """Bring an account up to date with one event; the state is changed and returned."""
    if isinstance(event, Borrowed):
        state["lent"][event.book] = event.due
        state["count"] += 1
        state["reserved"].pop(event.book, None)
    elif isinstance(event, Returned):
        due = state["lent"].pop(event.book)
        if event.day > due:
            state["fees"].append(10 * (event.day - due))
    elif isinstance(event, Reserved):
        state["reserved"].setdefault(event.book, []).append(event.branch)
    elif isinstance(event, Paid):
        del state["fees"][0]
    return state
