# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The unit: numbers in, numbers out."""
from __future__ import annotations

from typing import Dict, NamedTuple

from .circuit import Circuit
from .drawing import GATES

WIDTH = 16
OPERATIONS = ("add", "subtract", "and", "or", "xor", "less", "left", "right")
"""In the order of their numbers."""


class Answer(NamedTuple):
    """`carry`: of a sum, that it is too large; of a difference, that it is not negative."""

    value: int
    zero: bool
    carry: bool


class Unit:
    def __init__(self, drawing: str = GATES) -> None:
        inputs = [f"{name}{bit}" for name in "ab" for bit in range(WIDTH)]
        self.circuit = Circuit(drawing, inputs + ["s0", "s1", "s2"])

    def run(self, operation: str, a: int, b: int = 0) -> Answer:
        """Raises ValueError for an operation that does not exist, or a number of more than 16 bits."""
        for number in (a, b):
            if not 0 <= number < 1 << WIDTH:
                raise ValueError(f"{number} has no {WIDTH} bits")
        code = OPERATIONS.index(operation)
        values: Dict[str, bool] = {f"s{bit}": bool(code >> bit & 1) for bit in range(3)}
        for bit in range(WIDTH):
            values[f"a{bit}"] = bool(a >> bit & 1)
            values[f"b{bit}"] = bool(b >> bit & 1)
        wires = self.circuit.run(values)
        value = sum(wires[f"y{bit}"] << bit for bit in range(WIDTH))
        return Answer(value, wires["zero"], wires["carry"])
