# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Frames: the magic byte 0xA5, a type byte, the length as a varint, the payload, and a checksum byte."""
from __future__ import annotations

from typing import Iterable, Iterator, List, NamedTuple, Optional

from frames.source import Source
from frames.varint import read_varint, write_varint

MAGIC = 0xA5


class Frame(NamedTuple):
    """A message."""

    type: int
    payload: bytes


class Reader:
    """Reads frames until the stream ends.

    Bytes between frames are skipped and counted in `skipped`. Frames with a
    wrong checksum are dropped and counted in `damaged`. If the stream ends
    within a frame, iteration ends there and `broken` is set.
    """

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._source = Source(pieces)
        self.skipped = 0
        self.damaged = 0
        self.broken = False

    def _find_magic(self) -> bool:
        while True:
            byte = self._source.byte_or_none()
            if byte is None:
                return False
            if byte == MAGIC:
                return True
            self.skipped += 1

    def _rest(self) -> Optional[Frame]:
        kind = self._source.byte()
        payload = self._source.take(read_varint(self._source))
        if self._source.byte() != (kind + sum(payload)) & 0xFF:
            return None
        return Frame(kind, payload)

    def __iter__(self) -> Iterator[Frame]:
        while self._find_magic():
            try:
                frame = self._rest()
            except EOFError:
                self.broken = True
                return
            if frame is None:
                self.damaged += 1
            else:
                yield frame


def encode(frame: Frame) -> bytes:
    """The bytes of a frame."""
    check = (frame.type + sum(frame.payload)) & 0xFF
    return bytes([MAGIC, frame.type]) + write_varint(len(frame.payload)) + frame.payload + bytes([check])


def read_all(pieces: Iterable[bytes]) -> List[Frame]:
    """All frames of a stream."""
    return list(Reader(pieces))
