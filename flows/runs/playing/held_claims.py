"""The claims on episodes that this process holds for a run. A heartbeat keeps them alive."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from stackrank import log
from stackrank.db.connection.engine import separate_pool
from stackrank.db.connection.errors import DatabaseError
from stackrank.db.writes.store import Store
from stackrank.flows.runs.playing import claims
from stackrank.settings import settings
from stackrank.terms import RunStatus


class HeldClaims:
    """Claims made with one token. Safe to use from many threads."""

    def __init__(self, store: Store, run_id: int, hear: Callable[[RunStatus | None, bool], None]) -> None:
        """`hear` is called at each heartbeat with the run's status, and whether this process holds no claim."""
        self.token = claims.new_token()
        # Its own connections: many episodes that end together may use up the others for as long as a claim lasts.
        self._store = Store(separate_pool(store.engine))
        self._run_id = run_id
        self._hear = hear
        self._held: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._heart: threading.Thread | None = None

    @contextmanager
    def held(self, episode_id: int) -> Iterator[None]:
        """Keep the claim on an episode while the body runs."""
        self.hold(episode_id)
        try:
            yield
        finally:
            self.let_go(episode_id)

    def hold(self, episode_id: int) -> None:
        """Keep the claim on an episode until `let_go` has been called as many times as `hold`."""
        with self._lock:
            self._held[episode_id] += 1

    def let_go(self, episode_id: int) -> None:
        """Undo one `hold`."""
        with self._lock:
            self._held[episode_id] -= 1

    def start_heart(self) -> None:
        """Start a thread that reports every few seconds that this process is alive, and reads the run's status."""
        with self._lock:
            if self._heart is None:
                self._heart = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
                self._heart.start()

    def _beat(self) -> None:
        while not self._stopped.wait(settings().beat_s):
            with self._lock:
                self._held = +self._held  # drops claims that are no longer held
                held = set(self._held)
            try:
                self._store.keep_claims(held, self.token)
                status = self._store.heartbeat(self._run_id)
            except DatabaseError as error:
                log.warning("the run's heart missed a beat", run=self._run_id, error=error)
                continue
            self._hear(status, not held)

    def give_up(self) -> None:
        """Stop the heartbeat, and free the claims for others."""
        self._stopped.set()
        claims.give_up(self.token)
