# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""How strong signs bind, and to which side."""
from __future__ import annotations

STRENGTH = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}
ATOM = 4


def binds_right(sign: str) -> bool:
    """Whether a ^ b ^ c means a ^ (b ^ c); all other signs group to the left."""
    return sign == "^"
