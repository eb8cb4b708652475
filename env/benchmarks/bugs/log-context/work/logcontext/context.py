# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What a thread is working on."""
from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import Dict, Iterator, List


class Context:
    """Tags, for each thread its own. A thread begins without tags."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._local.stack = []

    def _stack(self) -> List[Dict[str, str]]:
        return self._local.stack

    @contextmanager
    def tagged(self, **tags: str) -> Iterator[None]:
        """Add tags for the block; they hide tags of the same name from outside."""
        stack = self._stack()
        stack.append(tags)
        try:
            yield
        finally:
            stack.pop()

    def tags(self) -> Dict[str, str]:
        """The tags of the current thread."""
        result: Dict[str, str] = {}
        for tags in self._stack():
            result.update(tags)
        return result
