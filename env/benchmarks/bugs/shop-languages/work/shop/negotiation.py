# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Which language a visitor gets."""
from __future__ import annotations

from typing import Iterable, List, Tuple


def wanted(header: str) -> List[str]:
    """The languages of an Accept-Language header, the most wanted first, without their regions."""
    found: List[Tuple[float, int, str]] = []
    for place, part in enumerate(header.split(",")):
        language, _, weight = part.strip().partition(";q=")
        try:
            quality = float(weight) if weight else 1.0
        except ValueError:
            continue
        if language and quality > 0:
            found.append((-quality, place, language.split("-")[0].lower()))
    return [language for _, _, language in sorted(found)]


def best(header: str, offered: Iterable[str], otherwise: str = "en") -> str:
    there = set(offered)
    return next((language for language in wanted(header) if language in there), otherwise)
