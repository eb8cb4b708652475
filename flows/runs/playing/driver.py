"""Decides which episode of a run this process plays next, and when it stops. Does not use Prefect."""

from __future__ import annotations

import queue
import random
import time
from collections.abc import Callable

from stackrank import log
from stackrank.db import queries
from stackrank.db.writes.claims import ClaimedEpisode, WorkerClaim
from stackrank.flows.runs.playing.claims import Watch
from stackrank.flows.runs.playing.episode import break_off
from stackrank.flows.runs.playing.error_policy import EpisodeFailed
from stackrank.flows.runs.playing.outages import Outages
from stackrank.flows.runs.playing.session import Session
from stackrank.flows.runs.playing.stopping import skip_what_is_known
from stackrank.flows.runs.playing.throttle import Throttled
from stackrank.terms import ErrorClass, StopReason

TICK_S = 1.0
BACKOFF_S = 2.0
"""Seconds before the first retry; doubled before each further one, plus up to half as much at random."""
LATEST_S = 300.0
"""Retries wait behind untried episodes, so that they do not meet the same load, but at most for this long."""
ENOUGH = 5
"""Episodes that must have ended before the share of errors counts."""
MOST_INTERRUPTIONS = 20
"""An episode that was interrupted more often than this probably kills its workers."""

Done = Callable[[BaseException | None], None]
Cell = tuple[int, int, int]
"""(task id, entrant id, attempt)."""
Submit = Callable[[ClaimedEpisode, Done], None]
"""Plays a claimed episode somewhere, and calls back when it is over, with the error that it raised, if any."""


class Driver:
    """Plays the open episodes of a run, `workers` at a time. Used by one thread."""

    def __init__(self, session: Session, submit: Submit, *, limit: int | None = None, probes: bool = False) -> None:
        """`limit`: play at most this many episodes, however often each is tried, and wait neither for episodes of other
        workers nor for endpoints that do not answer. `probes`: it is time to ask those endpoints again.
        """
        self._session = session
        self._store = session.store
        self._submit = submit
        self._limit = limit
        self._watch = Watch()
        self._outages = Outages(session, at_once=probes)
        self._looked = 0.0
        self._void: list[WorkerClaim] = []
        self._others = False
        self._started = 0
        self._playing: dict[int, ClaimedEpisode] = {}
        self._tries: dict[Cell, int] = {}
        self._unanswered: dict[Cell, tuple[int, int]] = {}
        """How many steps of an episode a model had answered when its endpoint failed, and how often it failed there."""
        self._waiting: list[tuple[float, ClaimedEpisode]] = []
        """When each failed episode is due again. They stay claimed, so that the run does not look finished."""
        self._over: queue.SimpleQueue[tuple[ClaimedEpisode, BaseException | None]] = queue.SimpleQueue()
        self._why = ""
        self._errors = False
        self._spent = Throttled(lambda: spent(session))
        self._too_many_errors = Throttled(lambda: too_many_errors(session))

    def run(self) -> str:
        """Play until nothing is left to play. Returns why the run ended early, empty if it did not."""
        try:
            while True:
                exhausted = self._start()
                if not self._playing and (self._stopping() or (exhausted and not self._is_awaited())):
                    return self._why or (too_many_errors(self._session) if self._errors else "")
                try:
                    claim, error = self._over.get(timeout=TICK_S)
                except queue.Empty:
                    continue
                self._ended(claim, error)
        finally:
            self._give_back()

    def _is_awaited(self) -> bool:
        """Whether there may still be an episode to play here later."""
        out, tried = self._outages, [claim["entrant_id"] for _, claim in self._waiting]
        if self._others or any(entrant not in out.waiting for entrant in tried):
            return True
        if self._limit is not None or not (tried or out.holds_back()):
            return False
        if out.hopeless(self._session.run.spec.endpoint_silence_s):
            self._why = self._why or out.why()
        return not self._why

    def _start(self) -> bool:
        """Start as many episodes as possible. Returns True if there is none left to start."""
        while len(self._playing) < self._session.run.spec.workers:
            if self._stopping():
                return False
            claim = self._next()
            if claim is None:
                return True
            if claim["interruptions"] > MOST_INTERRUPTIONS:
                error = (
                    f"it was cut off {claim['interruptions']} times: it may be what kills its workers, or what its "
                    "endpoint cannot answer"
                )
                self._store.fail_episode(claim["id"], stop_reason="error", error=error, by=self._session.claims.token)
                continue
            self._playing[claim["id"]] = claim
            self._submit(claim, lambda error, claim=claim: self._over.put((claim, error)))  # type: ignore[misc]
        return False

    def _next(self) -> ClaimedEpisode | None:
        now = time.monotonic()
        if late := self._again(now - LATEST_S):
            return late
        if self._limit is not None and self._started >= self._limit:
            return self._again(now)
        if now - self._looked >= TICK_S:
            self._looked = now
            rows = self._store.claims(self._session.run_id)
            mine = {*self._playing, *(claim["id"] for _, claim in self._waiting)}
            self._void = self._watch.void(rows, mine)
            self._others = self._limit is None and any(row["id"] not in mine for row in rows)
            self._outages.look({row["id"] for row in rows})
        found = self._claimed()
        self._started += found is not None
        return found or self._again(now)

    def _claimed(self) -> ClaimedEpisode | None:
        """Claim an episode that nobody else plays. Entrants whose endpoint does not answer play only its probe."""
        token, waiting = self._session.claims.token, self._outages.waiting
        while self._void:
            seen = self._void.pop(0)
            if found := self._store.take_over(seen["id"], token, last_claim=seen):
                if found["entrant_id"] not in waiting:
                    return found
                self._store.postpone(found["id"], token)
        return self._outages.probe() or self._store.claim_next(self._session.run_id, token, without=waiting)

    def _again(self, due_by: float) -> ClaimedEpisode | None:
        """Begin the first failed episode whose retry was due by `due_by`."""
        for entry in self._waiting:
            due, claim = entry
            if due <= due_by and claim["entrant_id"] not in self._outages.waiting:
                self._waiting.remove(entry)
                self._session.claims.let_go(claim["id"])
                self._store.begin(claim["id"], self._session.claims.token)
                return claim
        return None

    def _ended(self, claim: ClaimedEpisode, error: BaseException | None) -> None:
        del self._playing[claim["id"]]
        if error is not None and not isinstance(error, EpisodeFailed):
            # Its player died, or could not play it: the claim will be found void.
            log.warning("an episode was left, and will be gone on with", run=self._session.run_id, error=error)
        if isinstance(error, EpisodeFailed) and error.endpoint:
            self._unanswered_by(claim, error)
            return
        self._outages.over(claim)
        if not isinstance(error, EpisodeFailed):
            skip_what_is_known(self._session)
            return
        if error.ends_run:
            self._why = self._why or str(error)
        cell = _cell(claim)
        failures = self._tries.get(cell, 0) + (not error.afresh)
        self._tries[cell] = failures
        if error.retried and (error.afresh or failures <= self._session.run.spec.retries):
            delay_s = 0.0 if error.afresh else BACKOFF_S * 2 ** (failures - 1) * random.uniform(1.0, 1.5)
            if again := self._store.retry_episode(claim["id"], self._session.claims.token, afresh=error.afresh):
                self._session.claims.hold(again["id"])
                self._waiting.append((time.monotonic() + delay_s, again))
        else:
            self._lost()

    def _lost(self) -> None:
        """Note that an episode ended in an error and is not retried."""
        self._errors = True
        self._why = self._why or self._too_many_errors()

    def _unanswered_by(self, claim: ClaimedEpisode, error: EpisodeFailed) -> None:
        """Let an episode wait for its endpoint, unless the endpoint keeps answering others and never this one."""
        cell, answered = _cell(claim), queries.count_model_steps(self._store.engine, claim["id"])
        before, times = self._unanswered.get(cell, (answered, 0))
        times = (times if answered == before else 0) + (not self._outages.is_probe(claim))
        self._unanswered[cell] = (answered, times)
        self._outages.down(claim, error)
        if times > self._session.run.spec.retries + 1:
            # `by=""`: unless somebody has claimed the episode meanwhile.
            reason, kind = StopReason.ERROR, ErrorClass.ENDPOINT
            self._store.fail_episode(claim["id"], stop_reason=reason, error=str(error), error_class=kind, by="")
            self._lost()

    def _stopping(self) -> bool:
        if not self._session.is_open():
            return True
        if not self._why:
            self._why = self._spent()
        return bool(self._why)

    def _give_back(self) -> None:
        """Release the claims on episodes that wait for a retry, for the next process that plays the run."""
        for _, claim in self._waiting:
            self._session.claims.let_go(claim["id"])
            if self._session.is_over():
                break_off(self._session, claim["id"])
            else:
                self._store.release(claim["id"], self._session.claims.token)


def _cell(claim: ClaimedEpisode) -> Cell:
    return claim["task_id"], claim["entrant_id"], claim["attempt"]


def reopen_errors(session: Session) -> None:
    """Make the episodes that ended in an error pending again."""
    for row in queries.episodes(session.store.engine, session.run_id, verdict="error", limit=1_000_000):
        session.store.retry_episode(row["id"])


def too_many_errors(session: Session) -> str:
    """Return why the run must end, if too large a share of its episodes ended in errors; else empty."""
    counts = queries.progress(session.store.engine, session.run_id)
    errors, done = counts["errors"], counts["done"]
    share = session.run.spec.max_error_share
    if done < ENOUGH or errors <= share * done:
        return ""
    (last,) = queries.episodes(session.store.engine, session.run_id, verdict="error", limit=1, newest_first=True)
    return f"{errors} of {done} episodes ended in an error, more than {share:.0%}; for instance {last['error']}"


def spent(session: Session) -> str:
    """Return why the run must end, if its budget is spent; else empty."""
    budget = session.run.spec.budget_usd
    if budget is None:
        return ""
    cost = session.store.spent_usd(session.run_id)
    if cost < budget:
        return ""
    return f"the budget of ${budget:.2f} is spent (${cost:.2f}): `stackrank resume` goes on with a larger --budget"
