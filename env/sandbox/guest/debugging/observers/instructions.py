"""Reads code objects of Python 3.11 as instructions, and writes them again."""

from __future__ import annotations

import dis
import opcode
import types
from typing import Dict, List, Optional, Sequence, Tuple

CACHES: Sequence[int] = getattr(opcode, "_inline_cache_entries", ())
"""How many cache units follow each instruction."""
_JUMPS = frozenset(dis.hasjrel)
Position = Tuple[Optional[int], Optional[int], Optional[int], Optional[int]]
NOWHERE: Position = (None, None, None, None)


class Instruction:
    """An instruction of the old code; `target` is the index of the instruction that it jumps to."""

    def __init__(self, op: int, arg: int, position: Position) -> None:
        self.op, self.arg, self.position = op, arg, position
        self.target = -1
        self.line = position[0]


class Emitted:
    """An instruction of the new code."""

    def __init__(self, op: int, arg: int, position: Position, skips: int = 0) -> None:
        self.op, self.arg, self.position = op, arg, position
        self.target: Optional[Tuple[int, bool]] = None
        """Where it jumps: index of the old instruction, and whether the line's hook comes first."""
        self.skips = skips
        """How many new instructions it jumps over."""
        self.size = 1 + CACHES[op]


def read(code: types.CodeType) -> Tuple[List[Instruction], Dict[int, int]]:
    """Return the instructions, and a map from offset to index that includes the end's offset."""
    content = code.co_code
    positions = list(code.co_positions())  # type: ignore[attr-defined, unused-ignore]
    instructions: List[Instruction] = []
    jumps: List[Tuple[Instruction, int]] = []
    starts: Dict[int, int] = {}
    begin = at = arg = 0
    while at < len(content):
        op, arg = content[at], arg << 8 | content[at + 1]
        if op == dis.EXTENDED_ARG:
            at += 2
            continue
        starts[begin] = len(instructions)
        instruction = Instruction(op, arg, positions[at // 2])
        if op in _JUMPS:
            jumps.append((instruction, at + 2 + 2 * (-arg if "BACKWARD" in dis.opname[op] else arg)))
        instructions.append(instruction)
        at += 2 + 2 * CACHES[op]
        begin, arg = at, 0
    starts[len(content)] = len(instructions)
    for instruction, offset in jumps:
        instruction.target = starts[offset]
    return instructions, starts


def extended(arg: int) -> int:
    """Return how many EXTENDED_ARG instructions an argument needs."""
    return 3 if arg > 0xFFFFFF else 2 if arg > 0xFFFF else 1 if arg > 0xFF else 0


def write_number(table: bytearray, value: int, first: int) -> None:
    """Append a number to the exception table, the high bits first."""
    parts = [value & 0x3F]
    while value > 0x3F:
        value >>= 6
        parts.append(value & 0x3F | 0x40)
    parts[-1] |= first
    table += bytes(reversed(parts))


def _little(table: bytearray, value: int) -> None:
    """Append a number to the table of positions, the low bits first."""
    while value > 0x3F:
        table.append(value & 0x3F | 0x40)
        value >>= 6
    table.append(value)


def positions(instructions: List[Emitted], first_line: int) -> bytes:
    """Return the table of positions."""
    table = bytearray()
    last_line = first_line
    for instruction in instructions:
        line, end_line, column, end_column = instruction.position
        units = instruction.size
        while units:
            count = min(units, 8)
            units -= count
            if line is None:
                table.append(0x80 | 15 << 3 | count - 1)
                continue
            has_columns = end_line is not None and column is not None and end_column is not None
            table.append(0x80 | (14 if has_columns else 13) << 3 | count - 1)
            away = line - last_line
            _little(table, -away << 1 | 1 if away < 0 else away << 1)
            if end_line is not None and column is not None and end_column is not None:
                _little(table, end_line - line)
                _little(table, column + 1)
                _little(table, end_column + 1)
            last_line = line
    return bytes(table)
