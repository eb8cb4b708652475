"""What a run's episodes share in a process. Any process that plays one of them can open it from the database."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum, auto

from stackrank import log
from stackrank.agents.llm.endpoints import limits
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.errors import DatabaseError
from stackrank.db.connection.retries import with_patience
from stackrank.db.writes.store import Store
from stackrank.env.sandbox.base import Say
from stackrank.flows.runs.operating.tuning import retune
from stackrank.flows.runs.playing.claims import HeldClaims
from stackrank.flows.runs.playing.sandboxes import RunSandboxes
from stackrank.flows.runs.preparing.stored_run import StoredRun, load_run
from stackrank.terms import RunStatus

PATIENCE_S = 60.0
"""How long a run waits for a database that is unavailable."""


class SessionState(Enum):
    """What a session may still do."""

    OPEN = auto()
    """Episodes start."""
    DRAINING = auto()
    """No episode starts any more; those in progress are played to the end."""
    CANCELLED = auto()
    """The episodes in progress end now, and are cancelled."""
    RELEASED = auto()
    """The episodes in progress end now, and other processes continue them."""


class Session:
    """A run in this process: its tasks and entrants, and whether its episodes may start and continue."""

    def __init__(self, stored: StoredRun) -> None:
        self.store = Store(with_patience(connect(), PATIENCE_S))
        self.run_id = stored.id
        self.run = stored.prepared
        self.tasks = stored.tasks
        self.entrants = stored.entrants
        self.sandboxes = RunSandboxes(self.run.backend, size=self.run.spec.workers)
        self.claims = HeldClaims(self.store, self.run_id, self._on_heartbeat)
        self.state = SessionState.OPEN
        self.is_paused = False
        """Whether an operator has paused the run; see `follow`."""
        self._is_known_over = False
        self._end_lock = threading.Lock()
        self._end_events: set[threading.Event] = set()
        self._lock = threading.Lock()

    def is_open(self) -> bool:
        """Whether episodes may start."""
        return self.state is SessionState.OPEN

    def is_over(self) -> bool:
        """Whether the episodes in progress must end now."""
        return self.state in (SessionState.CANCELLED, SessionState.RELEASED)

    @contextmanager
    def end_event(self) -> Iterator[threading.Event]:
        """Give an event that is set when the episode that the body plays must end."""
        event = threading.Event()
        with self._lock:
            self._end_events.add(event)
            if self.is_over():
                event.set()
        try:
            yield event
        finally:
            with self._lock:
                self._end_events.remove(event)

    def start_run(self, *, prefect_flow_run_id: str = "") -> bool:
        """Mark the run as running, and start the heartbeat. Returns False if the run is cancelled."""
        is_started = self.store.start_run(self.run_id, prefect_flow_run_id=prefect_flow_run_id)
        if is_started:
            self.claims.start_heartbeat()
        return is_started

    def follow(self) -> None:
        """Obey what operators have decided about the run since: whether it is paused, and how it is tuned."""
        directions = queries.directions(self.store.engine, self.run_id)
        self.is_paused = directions["paused"]
        spec = retune(self.run.spec, directions["spec"])
        if spec is not self.run.spec:
            self.run = replace(self.run, spec=spec)
        endpoints = {endpoint.shown_url for entrant in self.entrants.values() for endpoint in entrant.setup.endpoints}
        for url in endpoints:
            limits.restrain(url, spec.requests_per_minute)

    def drain(self) -> None:
        """Start no more episodes."""
        with self._lock:
            if self.is_open():
                self.state = SessionState.DRAINING

    def cancel(self) -> None:
        """End the run here: no episode starts any more, and those in progress are cancelled."""
        self._end(SessionState.CANCELLED)

    def release(self) -> None:
        """End this process's work: no episode starts here any more, and other processes continue those in progress."""
        self._end(SessionState.RELEASED)

    def interrupt(self, reason: str) -> None:
        """Cancel the run, and store that at once, so that a late cancellation cannot hit somebody who resumes it."""
        self.cancel()
        try:
            self.end_run(RunStatus.CANCELLED, reason)
        except DatabaseError as error:
            log.warning("the database does not know yet that the run is cancelled", run=self.run_id, error=error)

    def end_run(self, status: RunStatus, reason: str) -> bool:
        """End the run for all processes. Returns False if it was already over.

        Once this process knows that the run is over, it does not end it again, because somebody may have resumed it.
        """
        with self._end_lock:
            if self._is_known_over:
                self.store.settle_run(self.run_id)
                return False
            is_ended = self.store.end_run(self.run_id, status, reason)
            self._is_known_over = True
            return is_ended

    def _end(self, state: SessionState) -> None:
        with self._lock:
            if self.is_over():
                return
            self.state = state
            for event in self._end_events:
                event.set()
        self.sandboxes.end()

    def _on_heartbeat(self, status: RunStatus | None, is_idle: bool) -> None:
        """React to the run's status. `is_idle`: this process holds no claim."""
        if status in (RunStatus.PENDING, RunStatus.RUNNING):
            return  # pending: the run was just cancelled, and somebody is about to resume it
        self._is_known_over = True
        if status is RunStatus.CANCELLED:
            self.cancel()
        else:
            self.drain()
            if is_idle:
                leave_run(self.run_id)

    def close(self) -> None:
        """End the sandboxes that were started ahead, and give up the claims."""
        self.claims.close()
        self.sandboxes.close()


_sessions: dict[int, Session] = {}
_sessions_lock = threading.Lock()


def join_run(run_id: int, say: Say = log.info) -> Session:
    """Return this process's session of a run, loaded from the database if necessary.

    `say` gets a line before each long wait. Raises SpecError, SandboxError, DatabaseError.
    """
    log.configure()
    with _sessions_lock:
        if run_id not in _sessions:
            _sessions[run_id] = Session(load_run(run_id, say))
        return _sessions[run_id]


def open_session(stored: StoredRun) -> Session:
    """Open the session of a run that was just created in this process."""
    log.configure()
    with _sessions_lock:
        _sessions[stored.id] = Session(stored)
        return _sessions[stored.id]


def cancel_here(run_id: int) -> bool:
    """Cancel a run in the background, for signal handlers. Returns False if this process has no session of the run."""
    session = _sessions.get(run_id)
    if session is not None:
        threading.Thread(target=session.interrupt, args=("interrupted",), name="cancel").start()
    return session is not None


def leave_run(run_id: int) -> None:
    """Close this process's session of a run, if it has one."""
    with _sessions_lock:
        session = _sessions.pop(run_id, None)
    if session is not None:
        session.close()
