# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Sixty-four kilobytes."""
from __future__ import annotations


class Memory:
    def __init__(self) -> None:
        self._cells = bytearray(0x10000)

    def __getitem__(self, address: int) -> int:
        return self._cells[address & 0xFFFF]

    def __setitem__(self, address: int, value: int) -> None:
        self._cells[address & 0xFFFF] = value & 0xFF

    def word(self, address: int) -> int:
        """The low byte comes first."""
        return self[address] | self[address + 1] << 8

    def zero_page_word(self, address: int) -> int:
        return self[address & 0xFF] | self[(address + 1) & 0xFF] << 8

    def load(self, address: int, content: bytes) -> None:
        for offset, value in enumerate(content):
            self[address + offset] = value

    def dump(self, address: int, size: int) -> bytes:
        return bytes(self[address + offset] for offset in range(size))
