"""What the episodes of one run share in one process, found or built in whatever process an episode lands."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from db import queries
from db.engine import connect
from db.errors import DatabaseError
from db.models import RunStatus
from db.patience import with_patience
from db.store import Store
from env.benchmarks.base import digest
from env.sandbox.base import SandboxSpec
from env.sandbox.client import Sandbox
from env.sandbox.pool import Pool
from env.task import Task
from flows import claims, log
from flows.plan import Entrant, Plan, make_plan, save_benchmark, save_entrant
from flows.spec import SpecError, make_spec

PATIENCE_S = 60.0
"""How long a run waits for a database that is away."""


class Stage:
    """Tasks, entrants and sandboxes of a run, and this process's claims on its episodes."""

    def __init__(
        self, store: Store, run_id: int, plan: Plan, tasks: dict[int, Task], entrants: dict[int, Entrant]
    ) -> None:
        """`tasks`, `entrants`: by the ids of their rows."""
        self.store = store
        self.run_id = run_id
        self.plan = plan
        self.tasks = tasks
        self.entrants = entrants
        self.token = claims.new_token()
        self.over = threading.Event()
        """The episodes that are going on have to end now."""
        self.draining = threading.Event()
        """No episode starts any more."""
        self.released = False
        """When `over`: whether others go on with the episodes; else they are cancelled."""
        self._playing: dict[int, threading.Event] = {}
        self._waiting: set[int] = set()
        self._open: weakref.WeakSet[Sandbox] = weakref.WeakSet()
        # An episode takes two sandboxes, one to play in and one for the verdict.
        self._pool = Pool(plan.backend, size=plan.spec.workers)
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._heart: threading.Thread | None = None

    def new_sandbox(self, spec: SandboxSpec) -> Sandbox:
        """A sandbox of the run's backend; `cancel` ends those that are open. Raises SandboxError."""
        sandbox = self._pool.take(replace(spec, labels=(*spec.labels, ("stackrank.run", str(self.run_id)))))
        with self._lock:
            self._open.add(sandbox)
            late = self.over.is_set()
        if late:  # taken before the pool was closed
            sandbox.close()
        return sandbox

    @contextmanager
    def playing(self, episode_id: int) -> Iterator[threading.Event]:
        """Say that this process plays an episode. The event is set when it has to end."""
        ended = threading.Event()
        with self._lock:
            self._playing[episode_id] = ended
            if self.over.is_set():
                ended.set()
        try:
            yield ended
        finally:
            with self._lock:
                del self._playing[episode_id]

    @contextmanager
    def waiting(self, episode_id: int) -> Iterator[None]:
        """Say that this process will play an episode as soon as it can."""
        self.keep(episode_id)
        try:
            yield
        finally:
            self.let_go(episode_id)

    def keep(self, episode_id: int) -> None:
        """Keep the claim on an episode that waits."""
        with self._lock:
            self._waiting.add(episode_id)

    def let_go(self, episode_id: int) -> None:
        """Who plays an episode keeps its claim from now on, or nobody does."""
        with self._lock:
            self._waiting.discard(episode_id)

    def start_heart(self) -> None:
        """From now on say every few seconds that this process lives, and hear whether the run is still wanted."""
        with self._lock:
            if self._heart is None:
                self._heart = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
                self._heart.start()

    def _beat(self) -> None:
        while not self._closed.wait(claims.BEAT_S):
            with self._lock:
                playing = self._waiting | set(self._playing)
            try:
                self.store.keep_claims(playing, self.token)
                status = self.store.heartbeat(self.run_id)
            except DatabaseError as error:
                log.warning("the run's heart missed a beat", run=self.run_id, error=error)
                continue
            if status is RunStatus.CANCELLED:
                self.cancel()
            elif status is not RunStatus.RUNNING:
                self.draining.set()
                if not playing and leave(self.run_id):
                    return

    def cancel(self) -> None:
        """End the run here: no episode starts any more, and those that are going on are cancelled."""
        self._end(released=False)

    def release(self) -> None:
        """End the work of this process: no episode starts here any more, and others go on with those that did."""
        self._end(released=True)

    def _end(self, *, released: bool) -> None:
        with self._lock:
            if self.over.is_set():
                return
            self.released = released
            self.over.set()
            self.draining.set()
            for ended in self._playing.values():
                ended.set()
        self._pool.close()
        with self._lock:  # a set that grows meanwhile cannot be read
            left = list(self._open)
        for sandbox in left:
            sandbox.close()

    def close(self) -> None:
        """End the sandboxes that were started ahead, and give up what is claimed."""
        self._closed.set()
        self._pool.close()
        claims.give_up(self.token)


_stages: dict[int, Stage] = {}
_building = threading.Lock()


def stage_of(run_id: int) -> Stage:
    """The stage of a run in this process. Raises SpecError, SandboxError, DatabaseError."""
    log.configure()
    with _building:
        if run_id not in _stages:
            _stages[run_id] = _build(run_id)
        return _stages[run_id]


def cancel_here(run_id: int) -> bool:
    """Cancel what this process plays of a run, in the background: for signal handlers. False: it plays nothing yet."""
    stage = _stages.get(run_id)
    if stage is not None:
        threading.Thread(target=stage.cancel, name="cancel").start()
    return stage is not None


def leave(run_id: int) -> bool:
    """Forget a run that is over. False if this process had no part in it."""
    with _building:
        stage = _stages.pop(run_id, None)
    if stage is not None:
        stage.close()
    return stage is not None


def _build(run_id: int) -> Stage:
    engine = with_patience(connect(), PATIENCE_S)
    store = Store(engine)
    run: dict[str, Any] = queries.run(engine, run_id)
    # Those that were chosen when the run was made: what is known to be invalid may have changed since.
    chosen = {"tasks": queries.tasks_of_run(engine, run_id), "limit": None}
    plan = make_plan(make_spec({**run["spec"], **chosen}, f"run {run_id}"))
    if digest(plan.all_tasks) != run["benchmark_digest"]:
        raise SpecError(f"the tasks of {plan.benchmark.name} have changed since run {run_id} was made: start a new run")
    saved = save_benchmark(store, plan.benchmark, plan.all_tasks)
    tasks = {saved.task_ids[task.id]: task for task in plan.all_tasks}
    entrants = {save_entrant(store, entrant): entrant for entrant in plan.entrants}
    for entrant in run["entrants"]:
        if entrant["id"] not in entrants:
            raise SpecError(f"{entrant['name']} has changed since run {run_id} was made: start a new run")
    return Stage(store, run_id, plan, tasks, entrants)
