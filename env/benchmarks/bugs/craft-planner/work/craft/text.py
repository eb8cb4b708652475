# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A plan in words."""
from __future__ import annotations

from typing import List

from .planner import Plan


def shopping_list(made: Plan) -> List[str]:
    return [f"{count} {item.replace('_', ' ')}" for item, count in made.raw.items()]


def time(minutes: int) -> str:
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
