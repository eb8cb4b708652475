# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""How instructions find their operands."""
from __future__ import annotations

from typing import Callable, Dict, NamedTuple, Optional

from .memory import Memory
from .registers import Registers


class Mode(NamedTuple):
    """`size`: bytes of the operand. `find`: its address, or None where there is none."""

    size: int
    find: Callable[[Registers, Memory, int], Optional[int]]


def _none(registers: Registers, memory: Memory, at: int) -> Optional[int]:
    return None


def _here(registers: Registers, memory: Memory, at: int) -> int:
    return at


def _zero_page(registers: Registers, memory: Memory, at: int) -> int:
    return memory[at]


def _zero_page_x(registers: Registers, memory: Memory, at: int) -> int:
    return (memory[at] + registers.x) & 0xFF


def _zero_page_y(registers: Registers, memory: Memory, at: int) -> int:
    return (memory[at] + registers.y) & 0xFF


def _absolute(registers: Registers, memory: Memory, at: int) -> int:
    return memory.word(at)


def _absolute_x(registers: Registers, memory: Memory, at: int) -> int:
    return (memory.word(at) + registers.x) & 0xFFFF


def _absolute_y(registers: Registers, memory: Memory, at: int) -> int:
    return (memory.word(at) + registers.y) & 0xFFFF


def _indirect(registers: Registers, memory: Memory, at: int) -> int:
    return memory.word(memory.word(at))


def _indexed_indirect(registers: Registers, memory: Memory, at: int) -> int:
    return memory.zero_page_word((memory[at] + registers.x) & 0xFF)


def _indirect_indexed(registers: Registers, memory: Memory, at: int) -> int:
    return (memory.zero_page_word(memory[at]) + registers.y) & 0xFFFF


def _relative(registers: Registers, memory: Memory, at: int) -> int:
    offset = memory[at]
    return (at + 1 + (offset - 256 if offset >= 128 else offset)) & 0xFFFF


MODES: Dict[str, Mode] = {
    "imp": Mode(0, _none),
    "acc": Mode(0, _none),
    "imm": Mode(1, _here),
    "zp": Mode(1, _zero_page),
    "zpx": Mode(1, _zero_page_x),
    "zpy": Mode(1, _zero_page_y),
    "abs": Mode(2, _absolute),
    "abx": Mode(2, _absolute_x),
    "aby": Mode(2, _absolute_y),
    "ind": Mode(2, _indirect),
    "izx": Mode(1, _indexed_indirect),
    "izy": Mode(1, _indirect_indexed),
    "rel": Mode(1, _relative),
}
