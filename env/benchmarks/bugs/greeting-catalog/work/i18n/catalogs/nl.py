# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Dutch."""
from __future__ import annotations

TEXTS = {
    "cart": "Uw winkelwagen",
    "articles": ("{n} artikel", "{n} artikelen",
    "hello": "Goedendag, {name}!",
    "bye": "Tot ziens",
}


def plural(n: int) -> int:
    """The index of the form for n things."""
    return 0 if n == 1 else 1
