# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Layouts of the reports as the logger's manual gives them, all numbers low byte first, without any gaps.

    position  1   latitude and longitude (signed 32 bits each, 1e-6 degrees)
    battery   2   cells (8 bits), millivolts (16 bits), charge in mAh (signed 32 bits)
    weather   3   temperature (signed 16 bits, 0.01 degrees), humidity (8 bits, per cent), pressure (32 bits, Pa)
"""
from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Dict, Tuple


@dataclass(frozen=True)
class Layout:
    """The fields of a report and the factors they are multiplied with."""

    name: str
    format: struct.Struct
    fields: Tuple[str, ...]
    factors: Tuple[float, ...]

    def decode(self, payload: bytes) -> Dict[str, Any]:
        """The fields by name; factors of 1 leave whole numbers."""
        values = self.format.unpack(payload)
        return {
            field: value if factor == 1 else round(value * factor, 6)
            for field, value, factor in zip(self.fields, values, self.factors)
        }

    def encode(self, values: Dict[str, Any]) -> bytes:
        """The inverse of decode."""
        raw = [round(values[field] / factor) for field, factor in zip(self.fields, self.factors)]
        return self.format.pack(*raw)


LAYOUTS: Dict[int, Layout] = {
    1: Layout("position", struct.Struct("ii"), ("lat", "lon"), (1e-6, 1e-6)),
    2: Layout("battery", struct.Struct("BHi"), ("cells", "mv", "mah"), (1, 1, 1)),
    3: Layout("weather", struct.Struct("hBI"), ("temp", "humidity", "pressure"), (0.01, 1, 1)),
}
