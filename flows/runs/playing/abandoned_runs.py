"""Finds runs to be resumed by a supervisor: nobody plays them any more, or they ended with errors that may have passed.

Does not use Prefect. As with claims, silence is measured by this process's own clock, so clocks need not agree.
"""

from __future__ import annotations

import time
from datetime import datetime

from stackrank import log
from stackrank.db.writes.run_life import EndedRun, InterruptedRun
from stackrank.db.writes.store import Store
from stackrank.errors import UsageError
from stackrank.flows.runs.playing.claims import are_deserted
from stackrank.flows.runs.playing.liveness import SilenceWatch
from stackrank.flows.runs.specification.spec import make_spec, played_by_hand
from stackrank.host.wall_clock import seconds_since
from stackrank.settings import settings

PAUSES_S = (600.0, 1800.0, 5400.0)
"""How long after its end a run with errors is resumed: the first, the second and the last time."""
MISSED_BEATS = 3
"""After so many missing heartbeats, a run whose processes have ended is abandoned."""
_OLDEST_S = 86_400.0
"""A run that ended longer ago is not resumed."""


def fail_unless_played(store: Store, run_id: int, reason: str) -> None:
    """End a run that cannot start here as failed, unless another worker plays it and gives a sign of life meanwhile.

    If the run is in progress, this waits for a sign of life for `silent_s`: timestamps by other clocks prove nothing.
    """
    last_heartbeat = _heartbeat(store, run_id)
    deadline = time.monotonic() + settings().silent_s
    while last_heartbeat is not None and _heartbeat(store, run_id) == last_heartbeat and time.monotonic() < deadline:
        time.sleep(settings().beat_s)
    store.fail_start(run_id, reason, heartbeat_at=last_heartbeat)


def _heartbeat(store: Store, run_id: int) -> datetime | None:
    """Return the last sign of life of a run in progress."""
    return next((run["heartbeat_at"] for run in store.interrupted_runs() if run["id"] == run_id), None)


class AbandonedRuns:
    """Finds abandoned runs. Used by one thread, which looks every few seconds."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._silence = SilenceWatch()
        self._short_silence = SilenceWatch()

    def silent(self) -> list[InterruptedRun]:
        """Return the runs that gave no sign of life for `run_silent_s` while this process watched.

        A few missing heartbeats are enough if those who held episodes were processes of this machine and have ended.
        Runs played by a person or by somebody's program are left out: nobody else can continue them.
        """
        going = self._store.interrupted_runs()
        heartbeats = {run["id"]: run["heartbeat_at"] for run in going}
        silent = self._silence.find_silent(heartbeats, settings().run_silent_s)
        hushed = self._short_silence.find_silent(heartbeats, MISSED_BEATS * settings().beat_s)
        silent |= {run_id for run_id in hushed if are_deserted(self._store.claims(run_id))}
        return [run for run in going if run["id"] in silent and _is_resumable(run)]

    def take_failed(self) -> list[EndedRun]:
        """Return the runs of schedules and pools that ended with errors that may have passed, and whose pause is over.

        Each run is given to only one caller, who must resume it.
        """
        due = [
            run
            for run in self._store.ended_runs(_OLDEST_S, auto_resumes=len(PAUSES_S))
            if (run["schedule"] or run["spec"].get("pool"))
            and seconds_since(run["ended_at"]) >= PAUSES_S[run["auto_resumes"]]
        ]
        return [
            run for run in due if self._store.claim_resume(run["id"], times=run["auto_resumes"], limit=len(PAUSES_S))
        ]


def _is_resumable(run: InterruptedRun) -> bool:
    try:
        return not played_by_hand(make_spec(run["spec"], f"run {run['id']}"))
    except UsageError as error:
        log.warning("an abandoned run cannot be played here", run=run["id"], error=error)
        return False
