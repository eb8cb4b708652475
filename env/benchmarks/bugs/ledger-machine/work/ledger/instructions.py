# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What the instructions do."""
from __future__ import annotations

from typing import Callable, Dict


def _divide(a: int, b: int) -> int:
    """Towards zero, as the machine does it."""
    return abs(a) // abs(b) * (1 if (a < 0) is (b < 0) else -1)


def _rest(a: int, b: int) -> int:
    return a - b * _divide(a, b)


BINARY: Dict[str, Callable[[int, int], int]] = {
    "ADD": lambda a, b: a + b,
    "SUB": lambda a, b: a - b,
    "MUL": lambda a, b: a * b,
    "DIV": _divide,
    "MOD": _rest,
    "LT": lambda a, b: int(a < b),
    "GT": lambda a, b: int(a > b),
    "EQ": lambda a, b: int(a == b),
}
"""The second operand lies on top of the stack."""
WITH_NUMBER = {"PUSH", "JMP", "JZ", "CALL"}
WITH_NAME = {"LOAD", "STORE"}
ALONE = {"RET", "MORE", "READ", "WRITE", "HALT", *BINARY}
