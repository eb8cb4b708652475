# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""IPv4 addresses and prefixes as plain integers."""
from __future__ import annotations

from dataclasses import dataclass


def parse_address(text: str) -> int:
    """Read a dotted quad; anything else raises ValueError."""
    parts = text.split(".")
    if len(parts) != 4 or not all(p.isdigit() and int(p) < 256 for p in parts):
        raise ValueError("not an address: " + text)
    number = 0
    for part in parts:
        number = number * 256 + int(part)
    return number


@dataclass(frozen=True)
class Prefix:
    """A network: the leading `length` bits of an address."""

    bits: int
    length: int

    @classmethod
    def parse(cls, text: str) -> Prefix:
        """Read `10.1.0.0/16`; bits behind the prefix are cleared."""
        address, _, length = text.partition("/")
        size = int(length)
        if not 0 <= size <= 32:
            raise ValueError("bad prefix length: " + text)
        return cls(parse_address(address) >> (32 - size), size)

    def covers(self, address: int) -> bool:
        """Whether the address lies in this network."""
        return address >> (32 - self.length) == self.bits
