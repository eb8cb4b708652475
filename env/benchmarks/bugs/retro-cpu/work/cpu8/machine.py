# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The machine: fetch, find the operand, do it."""
from __future__ import annotations

from typing import Dict, Optional, Tuple

from .alu import ACCUMULATOR, COMPARISONS, MEMORY, Result
from .memory import Memory
from .modes import MODES
from .opcodes import OPCODES
from .registers import Registers

_BRANCHES: Dict[str, Tuple[str, bool]] = {
    "BCC": ("c", False),
    "BCS": ("c", True),
    "BEQ": ("z", True),
    "BMI": ("n", True),
    "BNE": ("z", False),
    "BPL": ("n", False),
    "BVC": ("v", False),
    "BVS": ("v", True),
}
_MOVES = {"TAX": "ax", "TAY": "ay", "TXA": "xa", "TYA": "ya"}
_STEPS = {"INX": ("x", 1), "INY": ("y", 1), "DEX": ("x", -1), "DEY": ("y", -1)}


class Stuck(Exception):
    """The program did not end, or came to an opcode that does not exist."""


class Machine:
    """Runs a program until BRK."""

    def __init__(self) -> None:
        self.memory = Memory()
        self.registers = Registers()
        self.cycles = 0

    def run(self, program: bytes, at: int = 0x0600, most: int = 100_000) -> Registers:
        """Load a program and run it. Raises Stuck after `most` cycles."""
        self.memory.load(at, program)
        self.registers.counter = at
        while self.step():
            if self.cycles > most:
                raise Stuck(f"no end after {most} cycles: {self.registers}")
        return self.registers

    def step(self) -> bool:
        """Run one instruction; whether the program goes on."""
        registers = self.registers
        at = registers.counter
        opcode = OPCODES.get(self.memory[at])
        if opcode is None:
            raise Stuck(f"no such opcode at {at:04X}: {self.memory[at]:02X}")
        mode = MODES[opcode.mode]
        address = mode.find(registers, self.memory, at + 1)
        registers.counter = (at + 1 + mode.size) & 0xFFFF
        self.cycles += opcode.cycles
        if opcode.name == "BRK":
            return False
        result = self._do(opcode.name, address)
        if result is not None:
            self._set(result, opcode.flags)
        return True

    def _set(self, result: Result, flags: str) -> None:
        if "N" in flags:
            self.registers.n = result.value > 0x7F
        if "Z" in flags:
            self.registers.z = result.value == 0
        if "C" in flags:
            self.registers.c = result.c
        if "V" in flags:
            self.registers.v = result.v

    def _do(self, name: str, address: Optional[int]) -> Optional[Result]:
        registers, memory = self.registers, self.memory
        operand = registers.a if address is None else memory[address]
        if name in ACCUMULATOR:
            result = ACCUMULATOR[name](registers, operand)
            registers.a = result.value
            return result
        if name in COMPARISONS:
            return COMPARISONS[name](registers, operand)
        if name in MEMORY:
            result = MEMORY[name](registers, operand)
            if address is None:
                registers.a = result.value
            else:
                memory[address] = result.value
            return result
        if name in _BRANCHES:
            flag, wanted = _BRANCHES[name]
            if getattr(registers, flag) is wanted:
                registers.counter = address or 0
                self.cycles += 1
            return None
        if name in _MOVES:
            source, target = _MOVES[name]
            setattr(registers, target, getattr(registers, source))
            return Result(getattr(registers, target))
        if name in _STEPS:
            register, step = _STEPS[name]
            setattr(registers, register, (getattr(registers, register) + step) & 0xFF)
            return Result(getattr(registers, register))
        if name[:2] == "LD":
            setattr(registers, name[2].lower(), operand)
            return Result(operand)
        if name[:2] == "ST" and address is not None:
            memory[address] = getattr(registers, name[2].lower())
            return None
        return self._rest(name, address, operand)

    def _rest(self, name: str, address: Optional[int], operand: int) -> Optional[Result]:
        registers = self.registers
        if name == "JMP":
            registers.counter = address or 0
        elif name == "JSR":
            back = registers.counter - 1
            self._push(back >> 8)
            self._push(back & 0xFF)
            registers.counter = address or 0
        elif name == "RTS":
            registers.counter = ((self._pull() | self._pull() << 8) + 1) & 0xFFFF
        elif name == "PHA":
            self._push(registers.a)
        elif name == "PLA":
            registers.a = self._pull()
            return Result(registers.a)
        elif name == "TSX":
            registers.x = registers.stack
            return Result(registers.x)
        elif name == "TXS":
            registers.stack = registers.x
        elif name in ("CLC", "CLV"):
            return Result(0)
        elif name == "SEC":
            return Result(0, True)
        elif name == "BIT":
            registers.z = not registers.a & operand
            registers.n = operand > 0x7F
            registers.v = bool(operand & 0x40)
        return None

    def _push(self, value: int) -> None:
        self.memory[0x100 + self.registers.stack] = value
        self.registers.stack = (self.registers.stack - 1) & 0xFF

    def _pull(self) -> int:
        self.registers.stack = (self.registers.stack + 1) & 0xFF
        return self.memory[0x100 + self.registers.stack]
