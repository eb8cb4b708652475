# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from cpu8 import Machine, assemble
from cpu8.opcodes import OPCODES


def carry_after(register: str, value: int, operand: int, where: str, carry: str) -> str:
    name = {"A": "CMP", "X": "CPX", "Y": "CPY"}[register]
    target = {"imm": f"#{operand}", "zp": "$20", "abs": "$0320"}[where]
    machine = Machine()
    machine.memory[0x20] = machine.memory[0x320] = operand
    machine.run(assemble(f"{carry}\nLD{register} #{value}\n{name} {target}\nBRK"))
    flags = machine.registers
    return "".join(each for each in "nzcv" if getattr(flags, each))


@pytest.mark.parametrize("carry", ["CLC", "SEC"])
@pytest.mark.parametrize("where", ["imm", "zp", "abs"])
@pytest.mark.parametrize("register", ["A", "X", "Y"])
def test_comparisons_set_the_same_flags_wherever_the_operand_is(register: str, where: str, carry: str) -> None:
    assert carry_after(register, 5, 5, where, carry) == "zc"
    assert carry_after(register, 6, 5, where, carry) == "c"
    assert carry_after(register, 4, 5, where, carry) == "n"
    assert carry_after(register, 200, 5, where, carry) == "nc"
    assert carry_after(register, 3, 200, where, carry) == ""


def test_the_search_ends_at_the_limit_in_memory() -> None:
    program = """
            LDY #250
    more:   INY
            CPY $0400
            BCS found
            JMP more
    found:  STY $30
            BRK
    """
    machine = Machine()
    machine.memory[0x400] = 253
    machine.run(assemble(program))
    assert (machine.memory[0x30], machine.registers.c) == (253, True)


def test_other_instructions_leave_the_carry() -> None:
    machine = Machine()
    machine.run(assemble("SEC\nLDY $0400\nINY\nDEY\nTYA\nAND #1\nBIT $0400\nINC $0400\nBRK"))
    assert machine.registers.c is True
    machine = Machine()
    machine.run(assemble("SEC\nSTY $0400\nLDY #1\nSTY $0401\nBRK"))
    assert machine.registers.c is True and machine.memory[0x401] == 1


def test_cycles_and_size_of_the_table() -> None:
    machine = Machine()
    machine.run(assemble("CPY $0400\nCPY $20\nCPY #1\nBRK"))
    assert machine.cycles == 4 + 3 + 2 + 7
    assert len(OPCODES) == 144


def test_subtraction_of_words() -> None:
    program = """
            SEC
            LDA $20
            SBC $22
            STA $24
            LDA $21
            SBC $23
            STA $25
            BRK
    """
    machine = Machine()
    machine.memory.load(0x20, (1000).to_bytes(2, "little") + (345).to_bytes(2, "little"))
    machine.run(assemble(program))
    assert machine.memory.word(0x24) == 655


@pytest.mark.parametrize("where", ["imm", "zp", "abs"])
@pytest.mark.parametrize("register", ["A", "X", "Y"])
def test_comparisons_leave_the_overflow(register: str, where: str) -> None:
    overflow, none = "LDA #127\nADC #1", "CLV"
    for value, operand, flags in ((5, 5, "zc"), (6, 5, "c"), (4, 5, "n"), (128, 1, "c"), (127, 255, "n")):
        assert carry_after(register, value, operand, where, none) == flags
        assert carry_after(register, value, operand, where, f"CLC\n{overflow}") == flags + "v"


@pytest.mark.parametrize("name", sorted({opcode.name for opcode in OPCODES.values()}))
def test_an_instruction_sets_the_same_flags_in_every_mode(name: str) -> None:
    flags = {"".join(sorted(opcode.flags)) for opcode in OPCODES.values() if opcode.name == name}
    assert len(flags) == 1
