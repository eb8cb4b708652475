# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The library's book keeping."""
from __future__ import annotations

from typing import Any, Dict, List, Optional

from loans.events import Event, State, apply
from loans.snapshots import Snapshots


class Library:
    """Events of all members; a snapshot is kept after every `interval` events."""

    def __init__(self, interval: int = 4) -> None:
        self._events: Dict[str, List[Event]] = {}
        self._snapshots = Snapshots()
        self._interval = interval

    def record(self, member: str, *events: Event) -> int:
        """Add events; returns the member's new version."""
        log = self._events.setdefault(member, [])
        log.extend(events)
        return len(log)

    def account(self, member: str, version: Optional[int] = None) -> State:
        """The account after all events, or after the first `version` of them."""
        log = self._events.get(member, [])
        end = len(log) if version is None else min(version, len(log))
        at, state = self._snapshots.latest(member, end)
        while at < end:
            state = apply(state, log[at])
            at += 1
            if at % self._interval == 0:
                self._snapshots.keep(member, at, state)
        return state

    def page(self, member: str) -> Dict[str, Any]:
        """What the member's page shows."""
        state = self.account(member)
        return {
            "lent": sorted(state["lent"]),
            "owed": sum(state["fees"]),
            "reserved": {book: len(branches) for book, branches in sorted(state["reserved"].items())},
            "count": state["count"],
        }
