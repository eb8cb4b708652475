# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Cyclic redundancy checks.

A check is described as usual by its width, polynomial, initial value, whether the bits of each byte (and of
the result) are reflected, and what the result is xored with.
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Tuple

from .bits import reflect


@lru_cache(maxsize=None)
def _table(width: int, poly: int) -> Tuple[int, ...]:
    mask, top = (1 << width) - 1, 1 << (width - 1)
    table = []
    for byte in range(256):
        value = byte << (width - 8)
        for _ in range(8):
            value = (value << 1) & mask
            value ^= poly if value & top else 0
        table.append(value)
    return tuple(table)


@dataclass(frozen=True)
class Crc:
    """A check of at least 8 bits."""

    width: int
    poly: int
    init: int = 0
    reflected: bool = False
    xor_out: int = 0

    def __call__(self, data: bytes) -> int:
        """The check value of some data."""
        table, mask = _table(self.width, self.poly), (1 << self.width) - 1
        value = self.init
        for byte in data:
            if self.reflected:
                byte = reflect(byte, 8)
            value = ((value << 8) & mask) ^ table[(value >> (self.width - 8)) ^ byte]
        if self.reflected:
            value = reflect(value, self.width)
        return value ^ self.xor_out


CRC8 = Crc(8, 0x07)
CRC16_MODBUS = Crc(16, 0x8005, init=0xFFFF, reflected=True)
CRC32 = Crc(32, 0x04C11DB7, init=0xFFFFFFFF, reflected=True, xor_out=0xFFFFFFFF)
