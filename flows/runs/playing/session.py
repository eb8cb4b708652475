"""What a run's episodes share in a process. Any process that plays one of them can open it from the database."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto

from stackrank import log
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.connection.errors import DatabaseError
from stackrank.db.connection.retries import with_patience
from stackrank.db.writes.store import Store
from stackrank.env.benchmarks.base import digest
from stackrank.env.sandbox.base import Say
from stackrank.env.task import Task
from stackrank.flows.runs.playing.held_claims import HeldClaims
from stackrank.flows.runs.playing.sandboxes import RunSandboxes
from stackrank.flows.runs.preparing.build import build
from stackrank.flows.runs.preparing.check import CheckedRun, Entrant, check
from stackrank.flows.runs.preparing.save import save_benchmark, save_entrant
from stackrank.flows.runs.specification.spec import SpecError, make_spec
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

    def __init__(
        self, store: Store, run_id: int, run: CheckedRun, tasks: dict[int, Task], entrants: dict[int, Entrant]
    ) -> None:
        """`tasks`, `entrants`: by the ids of their rows."""
        self.store = store
        self.run_id = run_id
        self.run = run
        self.tasks = tasks
        self.entrants = entrants
        self.sandboxes = RunSandboxes(run.backend, run_id, size=run.spec.workers)
        self.claims = HeldClaims(store, run_id, self._hear)
        self.state = SessionState.OPEN
        self._known_over = False
        self._ending = threading.Lock()
        self._endings: set[threading.Event] = set()
        self._lock = threading.Lock()

    def is_open(self) -> bool:
        """Whether episodes may start."""
        return self.state is SessionState.OPEN

    def is_over(self) -> bool:
        """Whether the episodes in progress must end now."""
        return self.state in (SessionState.CANCELLED, SessionState.RELEASED)

    @contextmanager
    def playing(self, episode_id: int) -> Iterator[threading.Event]:
        """Keep the claim on an episode while the body plays it. The event is set when the episode must end."""
        ending = threading.Event()
        with self._lock:
            self._endings.add(ending)
            if self.is_over():
                ending.set()
        try:
            with self.claims.held(episode_id):
                yield ending
        finally:
            with self._lock:
                self._endings.remove(ending)

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
        with self._ending:
            if self._known_over:
                self.store.settle_run(self.run_id)
                return False
            ended = self.store.end_run(self.run_id, status, reason)
            self._known_over = True
            return ended

    def _end(self, state: SessionState) -> None:
        with self._lock:
            if self.is_over():
                return
            self.state = state
            for ending in self._endings:
                ending.set()
        self.sandboxes.end()

    def _hear(self, status: RunStatus | None, idle: bool) -> None:
        """React to the run's status, which each heartbeat reads. `idle`: this process holds no claim."""
        if status in (RunStatus.PENDING, RunStatus.RUNNING):
            return  # pending: the run was just cancelled, and somebody is about to resume it
        self._known_over = True
        if status is RunStatus.CANCELLED:
            self.cancel()
        else:
            self.drain()
            if idle:
                leave(self.run_id)

    def close(self) -> None:
        """End the sandboxes that were started ahead, and give up the claims."""
        self.claims.give_up()
        self.sandboxes.close()


_sessions: dict[int, Session] = {}
_opening = threading.Lock()


def session_of(run_id: int, say: Say = log.info) -> Session:
    """Return this process's session of a run, opened if necessary. Raises SpecError, SandboxError, DatabaseError.

    `say` is told what is being built.
    """
    log.configure()
    with _opening:
        if run_id not in _sessions:
            _sessions[run_id] = _reopened(run_id, say)
        return _sessions[run_id]


def open_session(run_id: int, run: CheckedRun) -> Session:
    """Open the session of a run that was just checked, built and saved in this process."""
    log.configure()
    with _opening:
        _sessions[run_id] = _session(run_id, run)
        return _sessions[run_id]


def cancel_here(run_id: int) -> bool:
    """Cancel a run in the background, for signal handlers. Returns False if this process has no session of the run."""
    session = _sessions.get(run_id)
    if session is not None:
        threading.Thread(target=session.interrupt, args=("interrupted",), name="cancel").start()
    return session is not None


def leave(run_id: int) -> bool:
    """Forget a run that is over. Returns False if this process had no session of it."""
    with _opening:
        session = _sessions.pop(run_id, None)
    if session is not None:
        session.close()
    return session is not None


def _reopened(run_id: int, say: Say) -> Session:
    """Open a session of a run from the database."""
    engine = connect()
    row = queries.run(engine, run_id)
    stored = row["done"] + row["running"] + row["pending"] + row["not_played"]
    if stored < row["episodes_total"]:
        raise SpecError(
            f"run {run_id} is still being created, or its creation was interrupted: it has {stored} of its "
            f"{row['episodes_total']} episodes: start a new one"
        )
    # The tasks chosen when the run was created, because the set of tasks known as invalid may have changed since.
    chosen = {"tasks": queries.tasks_of_run(engine, run_id)}
    run = build(check(make_spec({**row["spec"], **chosen}, f"run {run_id}")), say)
    if digest(run.all_tasks) != row["benchmark_digest"]:
        raise SpecError(
            f"the tasks of {run.benchmark.name} have changed since run {run_id} was created: start a new run"
        )
    session = _session(run_id, run)
    for entrant in row["entrants"]:
        if entrant["id"] not in session.entrants:
            session.close()
            raise SpecError(f"{entrant['name']} has changed since run {run_id} was created: start a new run")
    session.store.record_conditions(run_id, run.conditions)
    return session


def _session(run_id: int, run: CheckedRun) -> Session:
    store = Store(with_patience(connect(), PATIENCE_S))
    saved = save_benchmark(store, run.benchmark, run.all_tasks)
    tasks = {saved.task_ids[task.id]: task for task in run.all_tasks}
    entrants = {save_entrant(store, entrant): entrant for entrant in run.entrants}
    return Session(store, run_id, run, tasks, entrants)
