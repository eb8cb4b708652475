# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Numbers of telephones."""
from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional

from .countries import COUNTRIES

HOME = "DE"


class BadNumber(ValueError):
    """Nobody can be called so."""


class Number(NamedTuple):
    """`country`: its letters, or None where nobody knows the code."""

    country: Optional[str]
    digits: str


def _by_code() -> Dict[str, List[str]]:
    found: Dict[str, List[str]] = {}
    for letters, country in COUNTRIES.items():
        found.setdefault(country.code, []).append(letters)
    return {code: sorted(letters) for code, letters in found.items()}


def parse(text: str) -> Number:
    """A number with + or 00, or one of home with 0. Raises BadNumber."""
    digits = "".join(character for character in text if character not in " -/()")
    if digits.startswith("00"):
        digits = f"+{digits[2:]}"
    elif digits.startswith("0"):
        digits = f"+{COUNTRIES[HOME].code}{digits[1:]}"
    if not digits.startswith("+") or not digits[1:].isdigit() or len(digits) < 5:
        raise BadNumber(text)
    codes = _by_code()
    # The longest code counts: 420 is not 42 and then a zero.
    for size in (3, 2, 1):
        if digits[1 : 1 + size] in codes:
            return Number(codes[digits[1 : 1 + size]][0], digits[1 + size :])
    return Number(None, digits[1:])


def plausible(number: Number) -> bool:
    """Whether it has as many digits as numbers of its country have."""
    if number.country is None:
        return False
    country = COUNTRIES[number.country]
    return country.least <= len(number.digits) <= country.most


def written(number: Number) -> str:
    code = COUNTRIES[number.country].code if number.country else ""
    return f"+{code} {number.digits}" if code else f"+{number.digits}"
