# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Where tracks are kept."""
from __future__ import annotations

from typing import Dict, List, Sequence


class MissingTrack(LookupError):
    """There is no such track."""


class Handle:
    """An open track."""

    def __init__(self, storage: "MemoryStorage", name: str, samples: Sequence[int]) -> None:
        self.name = name
        self._storage = storage
        self._samples = list(samples)
        self.closed = False

    def read(self, count: int) -> List[int]:
        """The next samples, fewer at the end."""
        if self.closed:
            raise ValueError(f"{self.name} is closed")
        taken, self._samples = self._samples[:count], self._samples[count:]
        return taken

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._storage.open_handles.remove(self)


class MemoryStorage:
    """Tracks in memory. At most `limit` handles can be open at the same time."""

    def __init__(self, tracks: Dict[str, Sequence[int]], limit: int = 8) -> None:
        self._tracks = dict(tracks)
        self._limit = limit
        self.open_handles: List[Handle] = []

    def open(self, name: str) -> Handle:
        if name not in self._tracks:
            raise MissingTrack(name)
        if len(self.open_handles) >= self._limit:
            raise OSError("too many open tracks")
        handle = Handle(self, name, self._tracks[name])
        self.open_handles.append(handle)
        return handle
