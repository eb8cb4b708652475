"""Caps output at its source: the head and the tail are kept, with a note of how many bytes were dropped."""

from __future__ import annotations

from typing import List


class HeadTail:
    """Collects bytes in bounded memory: the first and the last half of `cap`."""

    def __init__(self, cap: int) -> None:
        self._half = max(cap // 2, 1)
        self._head = bytearray()
        self._tail: List[bytes] = []
        self._tail_size = 0
        self._total = 0

    def write(self, data: bytes) -> None:
        """Take in some bytes; memory stays bounded however many there are."""
        self._total += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= self._half:
            self._tail_size -= len(self._tail.pop(0))
        if len(self._tail) > 4096:
            self._tail = [b"".join(self._tail)[-self._half :]]
            self._tail_size = len(self._tail[0])

    def take(self) -> "tuple[bytes, int]":
        """Return what was collected, with a note if bytes were dropped, and their number. Then start over."""
        tail = b"".join(self._tail)[-self._half :]
        dropped = self._total - len(self._head) - len(tail)
        middle = b"\n[... %d bytes dropped ...]\n" % dropped if dropped else b""
        data = bytes(self._head) + middle + tail
        self.__init__(self._half * 2)  # type: ignore[misc]
        return data, dropped
