# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from cpu8 import Machine, assemble, listing

STOCK = """
        LDY #0
        LDA #0
        CLC
next:   ADC list,Y
        INY
        CPY {limit}
        BCC again
        STA $10
        BRK
again:  CLC
        JMP next
size:   BYTE 4
list:   BYTE 7, 1, 30, 4, 99, 99
"""


def stock(limit: str) -> int:
    machine = Machine()
    machine.run(assemble(STOCK.format(limit=limit)))
    return machine.memory[0x10]


def test_stock_with_the_limit_in_the_program() -> None:
    assert stock("#4") == 42
    assert stock("#2") == 8


def test_stock_with_the_limit_in_the_list() -> None:
    assert stock("size") == 42


def test_multiplication() -> None:
    program = """
        LDA #0
        LDX #8
    step:
        LSR $10
        BCC skip
        CLC
        ADC $11
    skip:
        ROR A
        ROR $12
        DEX
        BNE step
        STA $13
        BRK
    """
    machine = Machine()
    machine.memory.load(0x10, bytes([23, 200]))
    machine.run(assemble(program))
    assert machine.memory.word(0x12) == 4600


def test_listing() -> None:
    assert listing(assemble("start: LDX #3\nloop: DEX\nBNE loop\nSTX $0200,Y".replace("STX", "STA"))) == [
        "0600  LDX #$03",
        "0602  DEX",
        "0603  BNE $0602",
        "0605  STA $0200,Y",
    ]
