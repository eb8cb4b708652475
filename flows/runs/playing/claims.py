"""The claims on episodes: those that this process holds, and those that others hold and no longer play.

A claim is void if its worker is dead, or was silent for too long while this process watched.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Collection, Iterable

from stackrank import log
from stackrank.db.connection.engine import separate_pool
from stackrank.db.connection.errors import DatabaseError
from stackrank.db.writes.claims import WorkerClaim
from stackrank.db.writes.store import Store
from stackrank.flows.runs.playing.liveness import SilenceWatch
from stackrank.home import is_dead, process_mark
from stackrank.settings import settings
from stackrank.terms import RunStatus

_numbers = itertools.count(1)
_living_tokens: set[str] = set()


class HeldClaims:
    """The claims that this process holds for a run, all made with one token. Thread-safe."""

    def __init__(self, store: Store, run_id: int, on_heartbeat: Callable[[RunStatus | None, bool], None]) -> None:
        """`on_heartbeat` gets the run's status, and whether this process holds no claim."""
        self.token = f"{process_mark()}#{next(_numbers)}"
        """Names the holder: this process, and which of its sessions."""
        _living_tokens.add(self.token)
        # Its own connections: many episodes that end together may use up the others for as long as a claim lasts.
        self._store = Store(separate_pool(store.engine))
        self._run_id = run_id
        self._on_heartbeat = on_heartbeat
        self._episode_ids: set[int] = set()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def hold(self, episode_id: int) -> None:
        """Keep the claim on an episode alive from now on."""
        with self._lock:
            self._episode_ids.add(episode_id)

    def drop(self, episode_id: int) -> None:
        """Keep the claim on an episode alive no longer."""
        with self._lock:
            self._episode_ids.discard(episode_id)

    def start_heartbeat(self) -> None:
        """Start a thread that reports every few seconds that this process is alive, and reads the run's status."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
                self._thread.start()

    def _beat(self) -> None:
        while not self._stopped.wait(settings().beat_s):
            with self._lock:
                episode_ids = set(self._episode_ids)
            try:
                self._store.keep_claims(episode_ids, self.token)
                status = self._store.heartbeat(self._run_id)
            except DatabaseError as error:
                log.warning("heartbeat failed", run=self._run_id, error=error)
                continue
            self._on_heartbeat(status, not episode_ids)

    def close(self) -> None:
        """Stop the heartbeat, and let others take over the episodes."""
        self._stopped.set()
        _living_tokens.discard(self.token)


def is_dead_worker(token: str) -> bool:
    """Whether the worker is known to be dead. For a worker on another machine, that is never known."""
    process = token.partition("#")[0]
    return token not in _living_tokens if process == process_mark() else is_dead(process)


def are_deserted(claims: Collection[WorkerClaim]) -> bool:
    """Whether there are claims, and only of workers that are known to be dead."""
    return bool(claims) and all(is_dead_worker(claim["claimed_by"]) for claim in claims)


class ClaimWatch:
    """Finds a run's void claims."""

    def __init__(self) -> None:
        self._silence = SilenceWatch()

    def find_void(self, claims: Iterable[WorkerClaim], held: Collection[int]) -> list[WorkerClaim]:
        """Return the rows of `Store.claims` that may be taken over. `held`: episodes that this process plays now."""
        foreign_claims = [claim for claim in claims if claim["id"] not in held]
        states = {claim["id"]: (claim["claimed_by"], claim["alive_at"]) for claim in foreign_claims}
        silent = self._silence.find_silent(states, settings().silent_s)
        return [claim for claim in foreign_claims if claim["id"] in silent or is_dead_worker(claim["claimed_by"])]
