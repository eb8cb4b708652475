# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What instructions compute: functions of the registers and the operand that return the result and the flags."""
from __future__ import annotations

from typing import Callable, Dict, NamedTuple

from .registers import Registers


class Result(NamedTuple):
    value: int
    c: bool = False
    v: bool = False


Operation = Callable[[Registers, int], Result]


def _add(registers: Registers, operand: int) -> Result:
    total = registers.a + operand + registers.c
    overflow = ~(registers.a ^ operand) & (registers.a ^ total) & 0x80
    return Result(total & 0xFF, total > 0xFF, bool(overflow))


def _subtract(registers: Registers, operand: int) -> Result:
    return _add(registers, operand ^ 0xFF)


def _compare(name: str) -> Operation:
    def compare(registers: Registers, operand: int) -> Result:
        register = getattr(registers, name)
        return Result((register - operand) & 0xFF, register >= operand)

    return compare


def _shift_left(registers: Registers, operand: int) -> Result:
    return Result(operand << 1 & 0xFF, operand > 0x7F)


def _shift_right(registers: Registers, operand: int) -> Result:
    return Result(operand >> 1, bool(operand & 1))


def _rotate_left(registers: Registers, operand: int) -> Result:
    return Result((operand << 1 | registers.c) & 0xFF, operand > 0x7F)


def _rotate_right(registers: Registers, operand: int) -> Result:
    return Result(operand >> 1 | registers.c << 7, bool(operand & 1))


ACCUMULATOR: Dict[str, Operation] = {
    "ADC": _add,
    "SBC": _subtract,
    "AND": lambda registers, operand: Result(registers.a & operand),
    "ORA": lambda registers, operand: Result(registers.a | operand),
    "EOR": lambda registers, operand: Result(registers.a ^ operand),
}
COMPARISONS: Dict[str, Operation] = {"CMP": _compare("a"), "CPX": _compare("x"), "CPY": _compare("y")}
MEMORY: Dict[str, Operation] = {
    "ASL": _shift_left,
    "LSR": _shift_right,
    "ROL": _rotate_left,
    "ROR": _rotate_right,
    "INC": lambda registers, operand: Result((operand + 1) & 0xFF),
    "DEC": lambda registers, operand: Result((operand - 1) & 0xFF),
}
