# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The registers and the flags."""
from __future__ import annotations


class Registers:
    """`n`, `z`, `c`, `v`: negative, zero, carry, overflow."""

    def __init__(self) -> None:
        self.a = self.x = self.y = 0
        self.stack = 0xFF
        self.counter = 0
        self.n = self.z = self.c = self.v = False

    def __repr__(self) -> str:
        flags = "".join(name.upper() if getattr(self, name) else "-" for name in "nzcv")
        return f"A={self.a:02X} X={self.x:02X} Y={self.y:02X} S={self.stack:02X} PC={self.counter:04X} {flags}"
