# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Words of a text."""
from __future__ import annotations

import re
from typing import Iterator, Tuple

_NAME = re.compile(r"\b[A-Z][A-Z0-9_]*\b")


def pieces(text: str) -> Iterator[Tuple[bool, str]]:
    """The text cut into names (True) and what is between them."""
    end = 0
    for match in _NAME.finditer(text):
        if match.start() > end:
            yield False, text[end : match.start()]
        yield True, match.group()
        end = match.end()
    if end < len(text):
        yield False, text[end:]
