# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Switching features by hand, for a block of code."""
from __future__ import annotations

from contextlib import contextmanager
from typing import Dict, Iterator, Optional


class Overrides:
    """What is switched by hand at the moment. It goes before every rule."""

    def __init__(self) -> None:
        self._current: Dict[str, bool] = {}

    def get(self, feature: str) -> Optional[bool]:
        """On, off, or None if the feature is not switched by hand."""
        return self._current.get(feature)

    @contextmanager
    def switched(self, **wanted: bool) -> Iterator[None]:
        """Switch features for the block. Afterwards each SHALL be as it was before the block."""
        before = {feature: self._current.get(feature) for feature in wanted}
        self._current.update(wanted)
        try:
            yield
        finally:
            for feature, value in before.items():
                if value:
                    self._current[feature] = value
                else:
                    self._current.pop(feature, None)

    def active(self) -> Dict[str, bool]:
        """All features switched by hand."""
        return dict(self._current)
