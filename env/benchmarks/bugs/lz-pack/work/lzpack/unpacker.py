# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Unpack data."""
from __future__ import annotations

from lzpack import tokens
from lzpack.tokens import Literal, PackError


def _copy(out: bytearray, distance: int, length: int) -> None:
    start = len(out) - distance
    if start < 0:
        raise PackError("bad distance %d at %d" % (distance, len(out)))
    out += out[start:start + length]


def unpack(data: bytes) -> bytes:
    """The data again; PackError if they are damaged."""
    if len(data) < 4:
        raise PackError("cut off")
    size = int.from_bytes(data[:4], "big")
    out = bytearray()
    for token in tokens.read(data[4:]):
        if isinstance(token, Literal):
            out += token.data
        else:
            _copy(out, token.distance, token.length)
    if len(out) != size:
        raise PackError("wrong size: %d instead of %d" % (len(out), size))
    return bytes(out)
