"""Which runs nobody plays any more, or ended with errors that may pass: what a supervisor takes up again.

Does not use Prefect. Silence is measured by this process's own clock, as with claims: clocks need not agree.
"""

from __future__ import annotations

from stackrank import log
from stackrank.db.columns import now
from stackrank.db.rows import Ended, Interrupted
from stackrank.db.store import Store
from stackrank.errors import UsageError
from stackrank.flows.runs.silence import Silence
from stackrank.flows.runs.spec import make_spec, played_by_hand
from stackrank.settings import settings

PAUSES_S = (600.0, 1800.0, 5400.0)
"""How long after its end a run with errors is taken up again: the first time, the second and the last."""
_OLDEST_S = 86_400.0
"""A run that ended longer ago is history."""


class LeftRuns:
    """Sees which runs were left. Used by one thread, which looks every few seconds."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._silence = Silence()

    def silent(self) -> list[Interrupted]:
        """The runs that have given no sign of life for as long as `run_silent_s`, while this process watched.

        What a person or somebody's program plays is not among them: nobody else can go on with it.
        """
        going = self._store.interrupted_runs()
        silent = self._silence.find({run["id"]: run["heartbeat_at"] for run in going}, settings().run_silent_s)
        return [run for run in going if run["id"] in silent and _goes_on_alone(run)]

    def ended_badly(self) -> list[Ended]:
        """Runs of schedules and pools that ended with errors which may have passed, and whose pause is over.

        Each is given to one caller, who has to go on with it.
        """
        due = [
            run
            for run in self._store.ended_runs(_OLDEST_S, taken_up=len(PAUSES_S))
            if (run["schedule"] or run["spec"].get("pool"))
            and (now() - run["ended_at"]).total_seconds() >= PAUSES_S[run["taken_up"]]
        ]
        return [run for run in due if self._store.take_up(run["id"], seen=run["taken_up"], most=len(PAUSES_S))]


def _goes_on_alone(run: Interrupted) -> bool:
    try:
        return not played_by_hand(make_spec(run["spec"], f"run {run['id']}"))
    except UsageError as error:
        log.warning("a run that fell silent cannot be played here", run=run["id"], error=error)
        return False
