# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Names and their values while a template is rendered."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping
from contextlib import contextmanager

from .errors import UnknownName


class Scope:
    """Frames of names, the innermost last."""

    def __init__(self, frames: List[Dict[str, Any]]) -> None:
        self._frames = frames

    def find(self, name: str) -> Any:
        """The value of a name: that of the innermost frame that has it."""
        for frame in reversed(self._frames):
            if name in frame:
                return frame[name]
        raise UnknownName(name)

    def set(self, name: str, value: Any) -> None:
        """Set a name in the innermost frame."""
        self._frames[-1][name] = value

    @contextmanager
    def inner(self, values: Mapping[str, Any]) -> Iterator[None]:
        """A new innermost frame for the block."""
        self._frames.append(dict(values))
        try:
            yield
        finally:
            self._frames.pop()

    def here(self) -> "Scope":
        """The scope of this place, for code that is to be rendered later but belongs here."""
        return Scope(self._frames)
