# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Patterns: a star stands for anything, within a part or, where it is the last one, to the end."""
from __future__ import annotations

import re
from functools import lru_cache
from typing import Pattern


@lru_cache(maxsize=None)
def _compiled(pattern: str) -> "Pattern[str]":
    head, star, _ = pattern.rpartition("*") if pattern.endswith("/*") else (pattern, "", "")
    parts = [re.escape(part) for part in head.split("*")]
    return re.compile("[^/]*".join(parts) + (".+" if star else ""))


def fits(pattern: str, text: str) -> bool:
    return pattern == "*" or _compiled(pattern).fullmatch(text) is not None
