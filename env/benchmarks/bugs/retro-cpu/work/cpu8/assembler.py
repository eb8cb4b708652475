# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The assembler: one instruction a line, `label:` before it, `;` begins a comment."""
from __future__ import annotations

import re
from typing import Dict, List, Tuple

from .modes import MODES
from .opcodes import OPCODES

_CODES = {(opcode.name, opcode.mode): code for code, opcode in OPCODES.items()}
_LABEL = re.compile(r"([A-Za-z_]\w*):")
_SHAPES: List[Tuple[str, str, str]] = [
    # what is written, the mode for a byte, the mode for a word
    (r"#(.+)", "imm", ""),
    (r"\((.+),\s*[xX]\)", "izx", ""),
    (r"\((.+)\),\s*[yY]", "izy", ""),
    (r"\((.+)\)", "", "ind"),
    (r"(.+),\s*[xX]", "zpx", "abx"),
    (r"(.+),\s*[yY]", "zpy", "aby"),
    (r"(.+)", "zp", "abs"),
]


class AssemblyError(ValueError):
    """A line that cannot be understood."""


def assemble(text: str, at: int = 0x0600) -> bytes:
    """The program as bytes, for the address `at`. Raises AssemblyError."""
    labels: Dict[str, int] = {}
    lines = list(_lines(text, labels))
    # Once to know where the labels are, once with them.
    _assemble(lines, labels, at, False)
    return _assemble(lines, labels, at, True)


def _lines(text: str, labels: Dict[str, int]) -> List[Tuple[int, str, str]]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition(";")[0].strip()
        label = ""
        match = _LABEL.match(line)
        if match:
            label, line = match[1], line[match.end() :].strip()
            if label in labels:
                raise AssemblyError(f"line {number}: {label} is there twice")
            labels[label] = -1
        found.append((number, label, line))
    return found


def _assemble(lines: List[Tuple[int, str, str]], labels: Dict[str, int], at: int, known: bool) -> bytes:
    code = bytearray()
    for number, label, line in lines:
        if label:
            labels[label] = at + len(code)
        if not line:
            continue
        name, _, operand = line.partition(" ")
        try:
            code += _instruction(name.upper(), operand.strip(), labels, at + len(code), known)
        except (KeyError, ValueError) as error:
            raise AssemblyError(f"line {number}: {line}: {error}") from None
    return bytes(code)


def _instruction(name: str, operand: str, labels: Dict[str, int], at: int, known: bool) -> bytes:
    if name == "BYTE":
        return bytes(_value(each.strip(), labels)[0] & 0xFF for each in operand.split(","))
    if not operand or operand.upper() == "A":
        mode = "acc" if (name, "acc") in _CODES else "imp"
        return bytes([_CODES[name, mode]])
    if (name, "rel") in _CODES:
        offset = _value(operand, labels)[0] - at - 2
        if known and not -128 <= offset < 128:
            raise ValueError("too far for a branch")
        return bytes([_CODES[name, "rel"], offset & 0xFF])
    for shape, short, long in _SHAPES:
        match = re.fullmatch(shape, operand)
        if match:
            value, is_short = _value(match[1], labels)
            mode = short if is_short and (name, short) in _CODES else long or short
            return bytes([_CODES[name, mode]]) + value.to_bytes(MODES[mode].size, "little")
    raise ValueError("no such operand")


def _value(text: str, labels: Dict[str, int]) -> Tuple[int, bool]:
    """A number, or the address of a label; and whether it is written with one byte."""
    if text in labels:
        return max(labels[text], 0), False
    if text.startswith("$"):
        return int(text[1:], 16), len(text) <= 3
    value = int(text)
    return value, value < 256
