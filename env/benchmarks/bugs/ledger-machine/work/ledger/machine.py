# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The machine: a stack for numbers, one for calls, and names for what is kept."""
from __future__ import annotations

from typing import Dict, Iterable, List, Sequence, Tuple, Union

from .instructions import ALONE, BINARY, WITH_NAME, WITH_NUMBER
from .tape import TAPE

Instruction = Tuple[str, Union[int, str, None]]


class Fault(Exception):
    """The program did what it must not do."""


class Machine:
    def __init__(self, program: Sequence[Instruction] = tuple(TAPE), most: int = 100_000) -> None:
        """Raises Fault for a program with an instruction that does not exist. `most`: instructions of a run."""
        for number, (name, operand) in enumerate(program):
            wanted = int if name in WITH_NUMBER else str if name in WITH_NAME else type(None)
            if not isinstance(operand, wanted) or name not in WITH_NUMBER | WITH_NAME | ALONE:
                raise Fault(f"{number}: {name} {operand}")
        self._program = program
        self._most = most
        self.names: Dict[str, int] = {}
        self._stack: List[int] = []
        self._calls: List[int] = []
        self._at = 0
        self.trace: List[int] = []
        """The numbers of the instructions that ran."""

    def run(self, bookings: Iterable[int]) -> List[int]:
        """What the program writes. Raises Fault."""
        waiting = list(bookings)
        written: List[int] = []
        while True:
            if len(self.trace) == self._most:
                raise Fault(f"no end after {self._most} instructions")
            if not 0 <= self._at < len(self._program):
                raise Fault(f"no instruction {self._at}")
            self.trace.append(self._at)
            name, operand = self._program[self._at]
            self._at += 1
            if name == "HALT":
                return written
            if name == "MORE":
                self._stack.append(int(bool(waiting)))
            elif name == "READ":
                if not waiting:
                    raise Fault("nothing to read")
                self._stack.append(waiting.pop(0))
            elif name == "WRITE":
                written.append(self._pop())
            else:
                self._do(name, operand)

    def _do(self, name: str, operand: Union[int, str, None]) -> None:
        if name in BINARY:
            second, first = self._pop(), self._pop()
            if second == 0 and name in ("DIV", "MOD"):
                raise Fault("divided by zero")
            self._stack.append(BINARY[name](first, second))
        elif isinstance(operand, str):
            if name == "STORE":
                self.names[operand] = self._pop()
            else:
                self._stack.append(self.names.get(operand, 0))
        elif name == "RET":
            if not self._calls:
                raise Fault("back to where?")
            self._at = self._calls.pop()
        elif isinstance(operand, int):
            if name == "PUSH":
                self._stack.append(operand)
                return
            if name == "CALL":
                self._calls.append(self._at)
            if name != "JZ" or self._pop() == 0:
                self._at = operand

    def _pop(self) -> int:
        if not self._stack:
            raise Fault(f"{self._at - 1}: the stack is empty")
        return self._stack.pop()
