# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The old cave: a hall, a well, a gate and the treasury behind it."""
from __future__ import annotations

STORY = {
    "start": "mouth",
    "rooms": {
        "mouth": {
            "text": "The mouth of a cave.",
            "exits": {"in": "hall"},
            "items": ["iron key"],
        },
        "hall": {
            "text": "A dripping hall.",
            "exits": {
                "out": "mouth",
                "down": "well",
                "north": "gate",
        },
        "well": {
            "text": "The bottom of a dry well.",
            "exits": {"up": "hall"},
            "items": ["rope"],
        },
        "gate": {
            "text": "A rusty gate bars the tunnel.",
            "exits": {"south": "hall", "north": "treasury"},
        },
        "treasury": {
            "text": "Gold, as far as the light goes.",
            "exits": {"south": "gate"},
            "items": ["crown"],
        },
    },
    "locks": {("gate", "north"): "iron key"},
}
