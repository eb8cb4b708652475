"""Frames: 4-byte header length, 4-byte body length (both big-endian), a JSON header, a body of raw bytes."""

from __future__ import annotations

import json
import os
import struct
from typing import Any, Callable, Dict, Tuple

_LENGTHS = struct.Struct("!II")

Header = Dict[str, Any]


class ChannelClosed(Exception):
    """The other side is gone."""


def pack(header: Header, body: bytes = b"") -> bytes:
    """Return one frame as bytes."""
    encoded = json.dumps(header, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return _LENGTHS.pack(len(encoded), len(body)) + encoded + body


def unpack(
    read_exactly: Callable[[int], bytes], header_limit: int = 1 << 32, body_limit: int = 1 << 32
) -> Tuple[Header, bytes]:
    """Read one frame with a function that returns exactly the number of bytes asked for, or raises ChannelClosed.

    The limits are in bytes. Raises ValueError if a frame is larger or its header is not JSON.
    """
    header_length, body_length = _LENGTHS.unpack(read_exactly(_LENGTHS.size))
    if header_length > header_limit or body_length > body_limit:
        raise ValueError("a frame of %d and %d bytes is too large" % (header_length, body_length))
    header = json.loads(read_exactly(header_length))
    return header, read_exactly(body_length) if body_length else b""


def take_input() -> bytes:
    """Return all of standard input, which is empty from now on."""
    chunks = []
    while True:
        chunk = os.read(0, 1 << 16)
        if not chunk:
            break
        chunks.append(chunk)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return b"".join(chunks)


class FdChannel:
    """Frames over a pair of file descriptors."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd

    def _read_exactly(self, size: int) -> bytes:
        chunks = []
        while size:
            chunk = os.read(self._read_fd, min(size, 1 << 20))
            if not chunk:
                raise ChannelClosed
            chunks.append(chunk)
            size -= len(chunk)
        return b"".join(chunks)

    def receive(self) -> Tuple[Header, bytes]:
        """Return the next frame. Raises ChannelClosed if the other side is gone."""
        return unpack(self._read_exactly)

    def send(self, header: Header, body: bytes = b"") -> None:
        """Write one whole frame. Raises ChannelClosed if the other side is gone."""
        data = memoryview(pack(header, body))
        try:
            while data:
                data = data[os.write(self._write_fd, data) :]
        except BrokenPipeError:
            raise ChannelClosed from None
