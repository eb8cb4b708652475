# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What the accounts do with the unit."""
from __future__ import annotations

from typing import Iterable, List

from .alu import Unit


class TooLarge(ArithmeticError):
    """A sum of more than 16 bits."""


def total(unit: Unit, amounts: Iterable[int]) -> int:
    """Raises TooLarge."""
    result = 0
    for amount in amounts:
        answer = unit.run("add", result, amount)
        if answer.carry:
            raise TooLarge(f"{result} + {amount}")
        result = answer.value
    return result


def largest(unit: Unit, amounts: Iterable[int]) -> int:
    found = 0
    for amount in amounts:
        if unit.run("less", found, amount).value:
            found = amount
    return found


def times(unit: Unit, a: int, b: int) -> int:
    """By shifts and sums. Raises TooLarge."""
    parts: List[int] = []
    while b:
        if unit.run("and", b, 1).value:
            parts.append(a)
        b = unit.run("right", b).value
        if b and a >> 15:
            raise TooLarge(f"{a} doubled")
        a = unit.run("left", a).value
    return total(unit, parts)
