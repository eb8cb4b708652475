# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Projects."""
from __future__ import annotations

from typing import Dict, List

from .errors import UnknownTarget
from .order import order
from .target import Target


class Project:
    """Targets by name, and what was built of them."""

    def __init__(self) -> None:
        self._targets: Dict[str, Target] = {}
        self._built: Dict[str, int] = {}

    def add(self, name: str, *needs: str) -> None:
        self._targets[name] = Target(name, needs)

    def touch(self, name: str) -> None:
        """Note that a target has changed."""
        old = self._target(name)
        self._targets[name] = Target(name, old.needs, old.version + 1)

    def build(self, *wanted: str) -> List[str]:
        """Build targets; returns what really had to be built, in order.

        That is what has changed, was never built, or needs something that had to be built.
        """
        fresh: List[str] = []
        for name in order(wanted, lambda n: self._target(n).needs):
            target = self._targets[name]
            if self._built.get(name) != target.version or any(n in fresh for n in target.needs):
                fresh.append(name)
                self._built[name] = target.version
        return fresh

    def _target(self, name: str) -> Target:
        if name not in self._targets:
            raise UnknownTarget(name)
        return self._targets[name]
