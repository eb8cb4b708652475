# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Readings of meters."""
from __future__ import annotations

import struct
from dataclasses import dataclass

from .frame import decode, encode

_FORMAT = struct.Struct("<IIh")


@dataclass(frozen=True)
class Reading:
    """A counter in watt hours and a temperature in tenths of a degree."""

    meter: int
    counter: int
    tenths: int

    def telegram(self, version: int) -> bytes:
        return encode(version, _FORMAT.pack(self.meter, self.counter, self.tenths))

    @classmethod
    def from_telegram(cls, frame: bytes) -> "Reading":
        _, payload = decode(frame)
        return cls(*_FORMAT.unpack(payload))
