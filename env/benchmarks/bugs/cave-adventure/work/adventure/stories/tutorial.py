# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Two rooms to learn the commands."""
from __future__ import annotations

STORY = {
    "start": "porch",
    "rooms": {
        "porch": {"text": "A sunny porch.", "exits": {"in": "kitchen"}, "items": ["lamp"]},
        "kitchen": {"text": "A tidy kitchen.", "exits": {"out": "porch"}},
    },
}
