# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A program as text again."""
from __future__ import annotations

from typing import List

from .modes import MODES
from .opcodes import OPCODES

_WRITTEN = {
    "imp": "",
    "acc": "A",
    "imm": "#${:02X}",
    "zp": "${:02X}",
    "zpx": "${:02X},X",
    "zpy": "${:02X},Y",
    "abs": "${:04X}",
    "abx": "${:04X},X",
    "aby": "${:04X},Y",
    "ind": "(${:04X})",
    "izx": "(${:02X},X)",
    "izy": "(${:02X}),Y",
    "rel": "${:04X}",
}


def listing(program: bytes, at: int = 0x0600) -> List[str]:
    """A line for each instruction; bytes that are none as BYTE."""
    lines = []
    index = 0
    while index < len(program):
        opcode = OPCODES.get(program[index])
        size = 0 if opcode is None else MODES[opcode.mode].size
        operand = program[index + 1 : index + 1 + size]
        if opcode is None or len(operand) < size:
            lines.append(f"{at + index:04X}  BYTE ${program[index]:02X}")
            index += 1
            continue
        value = int.from_bytes(operand, "little")
        if opcode.mode == "rel":
            value = at + index + 2 + (value - 256 if value > 127 else value)
        text = f"{opcode.name} {_WRITTEN[opcode.mode].format(value)}".rstrip()
        lines.append(f"{at + index:04X}  {text}")
        index += 1 + size
    return lines
