# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Which form of a word goes with a number.

Forms are numbered from 0. English and German have two, French counts 0 as singular. In Slavic languages the
last digits decide; numbers that end in 11 to 14 always take the last form.
"""
from __future__ import annotations

from typing import Callable, Dict


def _english(n: int) -> int:
    return 0 if n == 1 else 1


def _french(n: int) -> int:
    return 0 if n in (0, 1) else 1


def _few(n: int) -> bool:
    """Whether the number ends in 2, 3 or 4, but not in 12, 13 or 14."""
    return n % 10 in (2, 3, 4) and n not in (12, 13, 14)


def _polish(n: int) -> int:
    if n == 1:
        return 0
    return 1 if _few(n) else 2


def _russian(n: int) -> int:
    if n % 10 == 1 and n != 11:
        return 0
    return 1 if _few(n) else 2


RULES: Dict[str, Callable[[int], int]] = {
    "en": _english,
    "de": _english,
    "fr": _french,
    "pl": _polish,
    "ru": _russian,
}


def form(language: str, n: int) -> int:
    """The number of the form for n things."""
    return RULES[language](abs(n))
