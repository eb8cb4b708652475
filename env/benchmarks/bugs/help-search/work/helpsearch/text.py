# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Words of texts."""
from __future__ import annotations

import re
from typing import List

_WORD = re.compile(r"[^\W_]+")
STOP_WORDS = frozenset("a an and the of to in is it for on".split())


def stem(word: str) -> str:
    """Cut off common endings of words of more than four letters."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and len(word) > 4:
            return word[: -len(ending)]
    return word


def terms(text: str) -> List[str]:
    """The stems of all words but stop words."""
    return [stem(word) for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]
