"""The flow that plays a run: a thin adapter of `flows.runs.playing` to Prefect.

Importing this module imports Prefect, which takes seconds. The command line does so only when it plays a run.
"""

from __future__ import annotations

from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Cancelled, Completed, Failed

from stackrank import log
from stackrank.db import queries
from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.env.sandbox.registry import reap
from stackrank.flows.engine.dead_flow_runs import close_former
from stackrank.flows.engine.episodes import drive
from stackrank.flows.engine.reporting import report_run, show_progress
from stackrank.flows.engine.shards import lead_shards
from stackrank.flows.engine.survive_slot_loss import play_despite_slot_loss
from stackrank.flows.runs.playing.abandoned_runs import fail_unless_played
from stackrank.flows.runs.playing.driver import reopen_errors
from stackrank.flows.runs.playing.early_stopping import reconsider
from stackrank.flows.runs.playing.session import join_run, leave_run
from stackrank.terms import RunStatus
from stackrank.wording import count_of


@flow(name="evaluate", flow_run_name="{label}", persist_result=False)
def evaluate(run_id: int, label: str, errors: bool = True) -> State[Any]:
    """Play all episodes of a run that have no verdict yet. Only its id is passed; the rest is in the database.

    Playing a run again continues it where it was left; finished episodes are not played again. `errors`: also replay
    episodes that ended in an error.
    """
    reap()
    store = Store(connect())
    try:
        session = join_run(run_id)
        silent = session.run.silent_endpoints
    except BaseException as error:
        leave_run(run_id)
        fail_unless_played(store, run_id, _one_line(error))
        raise
    store = session.store
    close_former(store.engine, queries.run(store.engine, run_id))
    if not session.start_run(prefect_flow_run_id=str(flow_run.id or "")):
        leave_run(run_id)
        return Cancelled(message=f"run {run_id} is cancelled: resume it with `stackrank resume {run_id}`")
    try:
        for entrant_id, entrant in session.entrants.items():
            if down := silent.get(entrant.digest):
                store.open_outage(run_id, down.endpoint, [entrant_id], str(down))
        if errors:
            reopen_errors(session)
        reconsider(session)
        log.info("run started", run=run_id, flow_run=flow_run.id)
        with show_progress(store.engine, run_id):
            early_end = play_despite_slot_loss(lead_shards if session.run.spec.pool else drive, session)
    except BaseException as error:
        status = RunStatus.FAILED if isinstance(error, Exception) else RunStatus.CANCELLED
        session.end_run(status, _one_line(error))
        raise
    finally:
        leave_run(run_id)
    counts = queries.progress(store.engine, run_id)
    reason = ", ".join(f"{counts[name]} {name}" for name in ("resolved", "unresolved", "errors"))
    if session.is_over():
        session.end_run(RunStatus.CANCELLED, reason)
        return Cancelled(message=reason)
    if not early_end and (unplayed := counts["pending"] + counts["running"]):
        early_end = (
            f"{count_of(unplayed, 'episode has', 'episodes have')} no verdict: play them with "
            f"`stackrank resume {run_id}`"
        )
    if early_end:
        session.end_run(RunStatus.FAILED, early_end)
        return Failed(message=early_end)
    if counts["not_played"]:
        reason += f", {counts['not_played']} not needed"
    # If two processes play the run, only the one that ends it reports the result.
    if session.end_run(RunStatus.FINISHED, reason):
        log.info("run finished", run=run_id, result=reason)
        report_run(store.engine, run_id, session.run.spec)
    return Completed(message=reason)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:500] or type(error).__name__
