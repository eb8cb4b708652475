# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Recordings: packets of type byte, payload length byte, payload."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Tuple

from telemetry.layouts import LAYOUTS

Report = Tuple[str, Dict[str, Any]]


class RecordingError(ValueError):
    """The recording makes no sense."""


def packets(data: bytes) -> Iterator[Tuple[int, bytes]]:
    """Type and payload of each packet; a packet cut off at the end raises RecordingError."""
    position = 0
    while position < len(data):
        head = data[position:position + 2]
        if len(head) < 2 or position + 2 + head[1] > len(data):
            raise RecordingError("cut off at byte %d" % position)
        yield head[0], data[position + 2:position + 2 + head[1]]
        position += 2 + head[1]


def decode(data: bytes) -> List[Report]:
    """All reports of a recording; types that are not known are left out."""
    reports = []
    for kind, payload in packets(data):
        layout = LAYOUTS.get(kind)
        if layout is not None:
            reports.append((layout.name, layout.decode(payload)))
    return reports


def encode(reports: List[Report]) -> bytes:
    """The inverse of decode."""
    kinds = {layout.name: kind for kind, layout in LAYOUTS.items()}
    out = bytearray()
    for name, values in reports:
        payload = LAYOUTS[kinds[name]].encode(values)
        out += bytes([kinds[name], len(payload)]) + payload
    return bytes(out)
