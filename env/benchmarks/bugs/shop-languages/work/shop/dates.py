# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Days in words."""
from __future__ import annotations

import datetime

from .translator import Translator


def in_words(date: datetime.date, say: Translator) -> str:
    """With the name of the day and of the month."""
    return f"{say(f'weekday.{date.weekday()}')} {date.day} {say(f'month.{date.month}')} {date.year}"
