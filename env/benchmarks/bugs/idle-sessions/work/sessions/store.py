# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The session store."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Set


@dataclass
class Session:
    """Data of one visitor."""

    key: str
    user: str
    used: float
    data: Dict[str, Any] = field(default_factory=dict)


class SessionStore:
    """Sessions by key. One that was not used for more than `idle` seconds is dead."""

    def __init__(self, clock: Callable[[], float], idle: float = 900.0) -> None:
        self._clock = clock
        self.idle = idle
        self._sessions: Dict[str, Session] = {}
        self._of_user: Dict[str, Set[str]] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, key: str, user: str) -> Session:
        """Start a session."""
        if key in self._sessions:
            raise ValueError("key in use")
        session = self._sessions[key] = Session(key, user, self._clock())
        self._of_user.setdefault(user, set()).add(key)
        return session

    def get(self, key: str) -> Session:
        """A living session, which counts as a use; KeyError for others."""
        session = self._sessions[key]
        if self._dead(session):
            self.close(key)
            raise KeyError(key)
        session.used = self._clock()
        return session

    def close(self, key: str) -> None:
        """End a session; nothing happens if there is none."""
        session = self._sessions.pop(key, None)
        if session is None:
            return
        keys = self._of_user[session.user]
        keys.discard(key)
        if not keys:
            del self._of_user[session.user]

    def users(self) -> List[str]:
        """Everybody who has a session."""
        return sorted(self._of_user)

    def log_out(self, user: str) -> int:
        """End all sessions of a user; return how many."""
        keys = sorted(self._of_user.get(user, ()))
        for key in keys:
            self.close(key)
        return len(keys)

    def clean_up(self) -> List[str]:
        """End all dead sessions; return their keys in the order of opening."""
        dead: List[str] = []
        for key, session in self._sessions.items():
            if self._dead(session):
                self.close(key)
                dead.append(key)
        return dead

    def _dead(self, session: Session) -> bool:
        return self._clock() - session.used > self.idle
