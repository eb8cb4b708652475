# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Numbers and days as they are written in each language."""
from __future__ import annotations

import datetime

_COMMA = {"de", "fr", "es", "it"}
_ORDER = {"en": "{month}/{day}/{year}", "de": "{day}.{month}.{year}"}


def money(cents: int, language: str) -> str:
    sign = "-" if cents < 0 else ""
    text = f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"
    return f"{text.replace('.', ',')} \u20ac" if language in _COMMA else f"\u20ac{text}"


def day(date: datetime.date, language: str) -> str:
    pattern = _ORDER.get(language, "{day}/{month}/{year}")
    return pattern.format(day=date.day, month=date.month, year=date.year)
