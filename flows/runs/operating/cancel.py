"""Cancels a run on all machines that play it."""

from __future__ import annotations

import getpass
import time

from stackrank.db import queries
from stackrank.db.writes.claims import WorkerClaim
from stackrank.db.writes.store import Store
from stackrank.flows.runs.playing.claims import is_dead_worker
from stackrank.flows.runs.specification.spec import SpecError
from stackrank.terms import StopReason

WAIT_S = 15.0


def cancel_run(store: Store, ref: str) -> list[WorkerClaim]:
    """Cancel a run, and wait until its episodes have ended. Returns the claims that are still held after WAIT_S.

    Raises SpecError if the run is not in progress, NotFound.
    """
    run = queries.run(store.engine, ref)
    run_id = run["id"]
    if not store.cancel_run(run_id, f"cancelled by {getpass.getuser()}") and run["status"] != "cancelled":
        raise SpecError(f"run {run_id} ({run['name']}) is {run['status']}: only a run in progress can be cancelled")
    deadline = time.monotonic() + WAIT_S
    while (claims := store.claims(run_id)) and time.monotonic() < deadline:
        for row in claims:
            if is_dead_worker(row["claimed_by"]):  # its worker is dead, so nobody else can end it
                error = "the run was cancelled"
                store.fail_episode(row["id"], stop_reason=StopReason.CANCELLED, error=error, by=row["claimed_by"])
        time.sleep(0.2)
    return claims
