# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What happened in a flight."""
from __future__ import annotations

from typing import Any, Dict, List, Optional

from telemetry.recording import decode


def lowest_cell(data: bytes) -> Optional[float]:
    """The lowest voltage per cell in volts over all battery reports."""
    found = [values["mv"] / values["cells"] / 1000 for name, values in decode(data) if name == "battery"]
    return min(found, default=None)


def columns(data: bytes, name: str) -> Dict[str, List[Any]]:
    """The values of all reports of one kind, field by field."""
    result: Dict[str, List[Any]] = {}
    for kind, values in decode(data):
        if kind == name:
            for field, value in values.items():
                result.setdefault(field, []).append(value)
    return result
