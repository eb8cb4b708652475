# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Tokens of the packed form."""
from __future__ import annotations

from typing import Iterator, List, NamedTuple, Union


class Literal(NamedTuple):
    """Bytes as they are, at most 127."""

    data: bytes


class Copy(NamedTuple):
    """`length` bytes like those that begin `distance` bytes back in the output."""

    distance: int
    length: int


Token = Union[Literal, Copy]
MIN_COPY, MAX_COPY = 3, 3 + 127
WINDOW = 1 << 16


class PackError(ValueError):
    """The packed data make no sense."""


def write(tokens: List[Token]) -> bytes:
    """A literal is its length and its bytes; a copy is 128 + length - 3 and two bytes of distance - 1, high byte first."""
    out = bytearray()
    for token in tokens:
        if isinstance(token, Literal):
            out.append(len(token.data))
            out += token.data
        else:
            out.append(128 + token.length - MIN_COPY)
            out += (token.distance - 1).to_bytes(2, "big")
    return bytes(out)


def read(data: bytes) -> Iterator[Token]:
    """The inverse of write; PackError if the data are cut off."""
    position = 0
    while position < len(data):
        head = data[position]
        size = 2 if head >= 128 else head
        body = data[position + 1:position + 1 + size]
        if len(body) < size:
            raise PackError("cut off")
        if head >= 128:
            yield Copy(int.from_bytes(body, "big") + 1, head - 128 + MIN_COPY)
        else:
            yield Literal(body)
        position += 1 + size
