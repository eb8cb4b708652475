"""`stackrank cancel`."""

from __future__ import annotations

import getpass
import time

from agents.episode import StopReason
from db import queries
from db.engine import connect
from db.store import Store
from flows.claims import is_gone
from flows.output import print_json, say
from flows.spec import SpecError

WAIT_S = 15.0


def cancel(ref: str, as_json: bool) -> int:
    """Cancel a run, wherever it is played, and wait until its episodes have ended. Returns the exit status."""
    engine = connect()
    store = Store(engine)
    run = queries.run(engine, ref)
    run_id = run["id"]
    if not store.cancel_run(run_id, f"cancelled by {getpass.getuser()}") and run["status"] != "cancelled":
        raise SpecError(f"run {run_id} ({run['name']}) is {run['status']}: only what goes on can be cancelled")
    deadline = time.monotonic() + WAIT_S
    while (claims := store.claims(run_id)) and time.monotonic() < deadline:
        for row in claims:
            if is_gone(row["claimed_by"]):
                # Nobody is there to end it.
                how = {"stop_reason": StopReason.CANCELLED, "error": "the run was cancelled"}
                store.fail_episode(row["id"], **how, by=row["claimed_by"])
        time.sleep(0.2)
    counts = queries.progress(engine, run_id)
    if as_json:
        print_json({"run": run_id, "status": "cancelled", **counts})
    else:
        print(f"Run {run_id} ({run['name']}) is cancelled: {counts['done']} of {run['episodes_total']} episodes ended.")
        print(f"`stackrank resume {run_id}` goes on with it.")
    if claims:
        workers = ", ".join(sorted({row["claimed_by"].partition("#")[0] for row in claims}))
        say(f"{len(claims)} episodes have not ended yet; who plays them does not answer: {workers}")
    return 1 if claims else 0
