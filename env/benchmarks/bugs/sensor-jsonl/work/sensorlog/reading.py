# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""One reading."""
from __future__ import annotations

from dataclasses import dataclass


class BadReading(ValueError):
    """An entry lacks a field or has a value of the wrong kind."""


@dataclass(frozen=True)
class Reading:
    """A value of a sensor, with an optional remark."""

    sensor: str
    value: float
    remark: str = ""

    @classmethod
    def from_entry(cls, entry: dict[str, object]) -> Reading:
        try:
            sensor, value = entry["sensor"], entry["value"]
        except KeyError as error:
            raise BadReading(f"{error.args[0]} is missing in {entry}") from None
        if not isinstance(sensor, str) or isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadReading(f"wrong kind of value in {entry}")
        return cls(sensor, float(value), str(entry.get("remark", "")))

    def to_entry(self) -> dict[str, object]:
        entry: dict[str, object] = {"sensor": self.sensor, "value": self.value}
        if self.remark:
            entry["remark"] = self.remark
        return entry
