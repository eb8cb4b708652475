# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The program at the gate."""
from __future__ import annotations

from typing import List

from tickets.groups import group_of, may_enter_alone
from tickets.visitors import parse_visitor


def check(group: str, visitor_text: str, others: List[str]) -> str:
    """Whether a visitor with a ticket of that group may come in: `in`, `wrong ticket` or `not alone`.

    Who must not come alone needs somebody of 16 or more among the others.
    """
    visitor = parse_visitor(visitor_text)
    if group not in ("adult", group_of(visitor)):
        return "wrong ticket"
    if may_enter_alone(visitor) or any(parse_visitor(text).age >= 16 for text in others):
        return "in"
    return "not alone"
