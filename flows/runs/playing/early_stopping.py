"""Early stopping: once comparisons are decided, the unplayed episodes of their entrants are skipped.

The decisions follow from the database (`queries.stopping`), and marking is one statement. So it does not matter which
worker does it, how many do, or whether the run was interrupted in between.
"""

from __future__ import annotations

from stackrank import log
from stackrank.db import queries
from stackrank.flows.runs.playing.session import Session


def skip_decided(session: Session) -> None:
    """Mark the episodes of entrants whose comparisons are all decided. Does nothing if the run has no `stop`."""
    stop = session.run.spec.stop
    if stop is None:
        return
    finished = queries.decided_entrants(session.store.engine, session.run_id, stop.model_dump())
    if skipped := session.store.skip(session.run_id, finished):
        log.info("skipped episodes whose comparisons are decided", run=session.run_id, episodes=skipped)


def reconsider(session: Session) -> None:
    """Decide again before a run is resumed, because episodes that were retried may have undone a decision."""
    if session.run.spec.stop is not None:
        session.store.unskip(session.run_id)
        skip_decided(session)
