"""Decides which episode of a run this process plays next, and when the run stops. Does not use Prefect."""

from __future__ import annotations

import queue
import random
import time
from collections.abc import Callable

from stackrank import log
from stackrank.db import queries
from stackrank.db.writes.claims import ClaimedEpisode, WorkerClaim
from stackrank.flows.runs.playing.claims import ClaimWatch
from stackrank.flows.runs.playing.early_stopping import skip_decided
from stackrank.flows.runs.playing.episode import end_early
from stackrank.flows.runs.playing.error_policy import EpisodeFailed
from stackrank.flows.runs.playing.outages import Outages
from stackrank.flows.runs.playing.query_throttle import ThrottledQuery
from stackrank.flows.runs.playing.session import Session
from stackrank.terms import ErrorClass, StopReason
from stackrank.wording import count_of

TICK_S = 1.0
BACKOFF_S = 2.0
"""Seconds before the first retry; doubled before each further one, plus up to half as much at random."""
LONGEST_RETRY_WAIT_S = 300.0
"""Retries wait behind untried episodes, so that they do not meet the same load, but at most for this long."""
MIN_ENDED = 5
"""Episodes that must have ended before the share of errors counts."""
MAX_INTERRUPTIONS = 20
"""An episode that was interrupted more often than this probably kills its workers."""

OnEnd = Callable[[BaseException | None], None]
Cell = tuple[int, int, int]
"""(task id, entrant id, attempt)."""
Submit = Callable[[ClaimedEpisode, OnEnd], None]
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
        self._watch = ClaimWatch()
        self._outages = Outages(session, at_once=probes)
        self._last_look = 0.0
        self._last_order = float("-inf")
        self._void_claims: list[WorkerClaim] = []
        self._others_play = False
        self._started = 0
        self._playing: dict[int, ClaimedEpisode] = {}
        self._tries: dict[Cell, int] = {}
        self._silence_counts: dict[Cell, tuple[int, int]] = {}
        """How many steps of an episode a model had answered when its endpoint failed, and how often it failed there."""
        self._waiting: list[tuple[float, ClaimedEpisode]] = []
        """When each failed episode is due again. They stay claimed, so that the run does not look finished."""
        self._ended_episodes: queue.SimpleQueue[tuple[ClaimedEpisode, BaseException | None]] = queue.SimpleQueue()
        self._end_reason = ""
        self._has_errors = False
        self._budget_spent = ThrottledQuery(lambda: budget_spent(session))
        self._too_many_errors = ThrottledQuery(lambda: too_many_errors(session))

    def run(self) -> str:
        """Play until nothing is left to play. Returns why the run ended early, empty if it did not."""
        try:
            while True:
                exhausted = self._start_episodes()
                if not self._playing and (self._is_stopping() or (exhausted and not self._is_awaited())):
                    return self._end_reason or (too_many_errors(self._session) if self._has_errors else "")
                try:
                    claim, error = self._ended_episodes.get(timeout=TICK_S)
                except queue.Empty:
                    continue
                self._end_episode(claim, error)
        finally:
            self._give_back()

    def _is_awaited(self) -> bool:
        """Whether there may still be an episode to play here later."""
        outages, retried = self._outages, [claim["entrant_id"] for _, claim in self._waiting]
        if self._others_play or any(entrant not in outages.waiting for entrant in retried):
            return True
        if self._limit is not None or not (retried or outages.has_waiting_episodes()):
            return False
        if outages.is_hopeless(self._session.run.spec.endpoint_silence_s):
            self._end_reason = self._end_reason or outages.describe()
        return not self._end_reason

    def _start_episodes(self) -> bool:
        """Start as many episodes as possible. Returns True if there is none left to start."""
        if time.monotonic() - self._last_order >= TICK_S:
            self._last_order = time.monotonic()
            self._session.follow()
        if self._session.is_paused and has_open_episodes(self._session):
            self._outages.restart_patience()
            return False
        while len(self._playing) < self._session.run.spec.workers:
            if self._is_stopping():
                return False
            claim = self._next()
            if claim is None:
                return True
            if claim["interruptions"] > MAX_INTERRUPTIONS:
                error = (
                    f"the episode was interrupted {claim['interruptions']} times: it may kill its workers, or its "
                    "endpoint may be unable to answer it"
                )
                self._session.claims.drop(claim["id"])
                self._store.fail_episode(claim["id"], stop_reason="error", error=error, by=self._session.claims.token)
                continue
            self._playing[claim["id"]] = claim
            self._session.claims.hold(claim["id"])
            self._submit(claim, lambda error, claim=claim: self._ended_episodes.put((claim, error)))  # type: ignore[misc]
        return False

    def _next(self) -> ClaimedEpisode | None:
        clock = time.monotonic()
        if late := self._retry(clock - LONGEST_RETRY_WAIT_S):
            return late
        if self._limit is not None and self._started >= self._limit:
            return self._retry(clock)
        if clock - self._last_look >= TICK_S:
            self._last_look = clock
            rows = self._store.claims(self._session.run_id)
            mine = {*self._playing, *(claim["id"] for _, claim in self._waiting)}
            self._void_claims = self._watch.find_void(rows, mine)
            self._others_play = self._limit is None and any(row["id"] not in mine for row in rows)
            self._outages.refresh({row["id"] for row in rows})
        claim = self._claim()
        self._started += claim is not None
        return claim or self._retry(clock)

    def _claim(self) -> ClaimedEpisode | None:
        """Claim an episode that nobody else plays. Entrants whose endpoint does not answer play only its probe."""
        token, waiting = self._session.claims.token, self._outages.waiting
        while self._void_claims:
            void_claim = self._void_claims.pop(0)
            if claim := self._store.take_over(void_claim["id"], token, last_claim=void_claim):
                if claim["entrant_id"] not in waiting:
                    return claim
                self._store.postpone(claim["id"], token)
        return self._outages.claim_probe() or self._store.claim_next(self._session.run_id, token, without=waiting)

    def _retry(self, due_by: float) -> ClaimedEpisode | None:
        """Begin the first failed episode whose retry was due by `due_by`."""
        for entry in self._waiting:
            due, claim = entry
            if due <= due_by and claim["entrant_id"] not in self._outages.waiting:
                self._waiting.remove(entry)
                self._store.begin(claim["id"], self._session.claims.token)
                return claim
        return None

    def _end_episode(self, claim: ClaimedEpisode, error: BaseException | None) -> None:
        del self._playing[claim["id"]]
        self._session.claims.drop(claim["id"])
        if error is not None and not isinstance(error, EpisodeFailed):
            # Its worker died, or could not play it. Later, its claim is found void.
            log.warning("an episode was abandoned and will be continued", run=self._session.run_id, error=error)
        if isinstance(error, EpisodeFailed) and error.endpoint:
            self._wait_for_endpoint(claim, error)
            return
        self._outages.note_end(claim)
        if not isinstance(error, EpisodeFailed):
            skip_decided(self._session)
            return
        if error.ends_run:
            self._end_reason = self._end_reason or str(error)
        cell = _cell(claim)
        failures = self._tries.get(cell, 0) + (not error.afresh)
        self._tries[cell] = failures
        if error.retried and (error.afresh or failures <= self._session.run.spec.retries):
            delay_s = 0.0 if error.afresh else BACKOFF_S * 2 ** (failures - 1) * random.uniform(1.0, 1.5)
            if next_try := self._store.retry_episode(claim["id"], self._session.claims.token, afresh=error.afresh):
                self._session.claims.hold(next_try["id"])
                self._waiting.append((time.monotonic() + delay_s, next_try))
        else:
            self._note_error()

    def _note_error(self) -> None:
        """Note that an episode ended in an error and is not retried."""
        self._has_errors = True
        self._end_reason = self._end_reason or self._too_many_errors()

    def _wait_for_endpoint(self, claim: ClaimedEpisode, error: EpisodeFailed) -> None:
        """Let an episode wait for its endpoint, unless the endpoint keeps answering others and never this one."""
        cell, steps_now = _cell(claim), queries.count_model_steps(self._store.engine, claim["id"])
        steps_then, times = self._silence_counts.get(cell, (steps_now, 0))
        times = (times if steps_now == steps_then else 0) + (not self._outages.is_probe(claim))
        self._silence_counts[cell] = (steps_now, times)
        self._outages.note_failure(claim, error)
        if times > self._session.run.spec.retries + 1:
            # `by=""`: unless somebody has claimed the episode meanwhile.
            reason, kind = StopReason.ERROR, ErrorClass.ENDPOINT
            self._store.fail_episode(claim["id"], stop_reason=reason, error=str(error), error_class=kind, by="")
            self._note_error()

    def _is_stopping(self) -> bool:
        if not self._session.is_open():
            return True
        if not self._end_reason:
            self._end_reason = self._budget_spent()
        return bool(self._end_reason)

    def _give_back(self) -> None:
        """Release the claims on episodes that wait for a retry, for the next process that plays the run."""
        for _, claim in self._waiting:
            self._session.claims.drop(claim["id"])
            if self._session.is_over():
                end_early(self._session, claim["id"])
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
    error_count, ended_count = counts["errors"], counts["done"]
    share = session.run.spec.max_error_share
    if ended_count < MIN_ENDED or error_count <= share * ended_count:
        return ""
    (last,) = queries.episodes(session.store.engine, session.run_id, verdict="error", limit=1, newest_first=True)
    return (
        f"{error_count} of {count_of(ended_count, 'episode')} ended in an error, more than {share:.0%}; "
        f"the latest error: {last['error']}"
    )


def has_open_episodes(session: Session) -> bool:
    """Whether an episode is open, here or elsewhere. Else a paused run ends too, as there is nothing to wait for."""
    counts = queries.progress(session.store.engine, session.run_id)
    return bool(counts["pending"] + counts["running"])


def budget_spent(session: Session) -> str:
    """Return why the run must end, if its budget is spent; else empty."""
    budget = session.run.spec.budget_usd
    if budget is None:
        return ""
    cost = session.store.spent_usd(session.run_id)
    if cost < budget:
        return ""
    return (
        f"the budget of ${budget:.2f} is spent (${cost:.2f}): raise it with "
        f"`stackrank resume {session.run_id} --budget DOLLARS`"
    )
