# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Things that are due at some minute."""
from __future__ import annotations

import heapq
from typing import Dict, List, Optional, Tuple


class DueQueue:
    """Names with the minute they are due; every name at most once.

    Entries that do not hold any more stay in the heap until they come to the
    top, where they are recognised and thrown away.
    """

    def __init__(self) -> None:
        self._heap: List[Tuple[int, str, int]] = []
        self._valid: Dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._valid)

    def __contains__(self, name: str) -> bool:
        return name in self._valid

    def put(self, name: str, minute: int) -> None:
        """Set when the name is due, whether or not it was in the queue."""
        ticket = self._valid.get(name, 0) + 1
        self._valid[name] = ticket
        heapq.heappush(self._heap, (minute, name, ticket))

    def remove(self, name: str) -> None:
        """Take a name out; KeyError if it is not in."""
        del self._valid[name]

    def _drop_stale(self) -> None:
        while self._heap and self._valid.get(self._heap[0][1]) != self._heap[0][2]:
            heapq.heappop(self._heap)

    def next_minute(self) -> Optional[int]:
        """The minute of what is due first, None if the queue is empty."""
        self._drop_stale()
        return self._heap[0][0] if self._heap else None

    def pop(self) -> Tuple[int, str]:
        """Take out what is due first, of equal ones the first by name; IndexError if the queue is empty."""
        self._drop_stale()
        minute, name, _ = heapq.heappop(self._heap)
        del self._valid[name]
        return minute, name
