# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The signals: a train gets its route when all of its sections are free."""
from __future__ import annotations

import threading
from typing import Dict, List, Optional

from .layout import Layout, Route


class Collision(Exception):
    """Two trains in one section."""


class Signals:
    def __init__(self, layout: Optional[Layout] = None) -> None:
        self.layout = layout or Layout()
        self._changed = threading.Condition()
        self._kept: Dict[str, str] = {}
        self._standing: Dict[str, str] = {}
        self.waiting: List[str] = []

    def request(self, train: str, name: str, timeout: Optional[float] = None) -> bool:
        """Wait until the route is free, and keep it. False where it was not free in time. Raises KeyError."""
        route = self.layout.routes[name]
        with self._changed:
            self.waiting.append(train)
            try:
                if not self._changed.wait_for(lambda: self._free(route), timeout):
                    return False
                self._kept.update(dict.fromkeys(route.sections, train))
                return True
            finally:
                self.waiting.remove(train)

    def _free(self, route: Route) -> bool:
        return not any(section in self._kept for section in route.sections)

    def enter(self, train: str, section: str) -> None:
        """The train is in a section now, as well as in the one before. Raises Collision."""
        with self._changed:
            other = self._standing.get(section, train)
            if other != train:
                raise Collision(f"{train} and {other} in {section}")
            self._standing[section] = train

    def leave(self, train: str, section: str) -> None:
        """The last car has left a section, which is free from now on."""
        with self._changed:
            for kept in (self._standing, self._kept):
                if kept.get(section) == train:
                    del kept[section]
            self._changed.notify_all()

    def standing(self) -> Dict[str, str]:
        """Section -> the train in it."""
        with self._changed:
            return dict(self._standing)
