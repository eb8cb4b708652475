# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""English."""
from __future__ import annotations

TEXTS = {
    "cart": "Your cart",
    "articles": ("{n} article", "{n} articles"),
    "hello": "Good day, {name}!",
    "bye": "Goodbye",
}


def plural(n: int) -> int:
    """The index of the form for n things."""
    return 0 if n == 1 else 1
