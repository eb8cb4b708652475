# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Pack data."""
from __future__ import annotations

from typing import List

from lzpack import tokens
from lzpack.matcher import Matcher
from lzpack.tokens import MIN_COPY, Copy, Literal, Token


def tokenize(data: bytes) -> List[Token]:
    """Tokens whose expansion is the data."""
    matcher = Matcher(data)
    found: List[Token] = []
    start = position = 0

    def flush(end: int) -> None:
        for begin in range(start, end, 127):
            found.append(Literal(data[begin:min(end, begin + 127)]))

    while position < len(data):
        distance, length = matcher.longest(position)
        if length < MIN_COPY:
            matcher.note(position)
            position += 1
            continue
        flush(position)
        found.append(Copy(distance, length))
        for each in range(position, position + length):
            matcher.note(each)
        start = position = position + length
    flush(position)
    return found


def pack(data: bytes) -> bytes:
    """Four bytes of size (high byte first), then tokens."""
    return len(data).to_bytes(4, "big") + tokens.write(tokenize(data))
