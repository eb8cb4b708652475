"""`stackrank run` and `stackrank resume`."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from queue import Empty
from types import FrameType
from typing import Any

from sqlalchemy import Engine

from db import queries
from db.engine import connect, default_url
from db.errors import masked
from db.models import RunStatus
from db.patience import with_patience
from db.store import Store
from flows import preflight, progress
from flows.output import LEADERBOARD_COLUMNS, leaderboard_rows, print_json, print_table, say
from flows.plan import label_of, make_plan, save_run
from flows.server import client_env, ensure_server
from flows.spec import SpecError, make_spec, read_spec
from flows.stage import PATIENCE_S, cancel_here, stage_of

INTERRUPTED = 130
_RETRIES = "2"
"""How often Prefect's client tries again: 6 s in all for each of the calls at a run's end, which are only shown."""


def run(file: Path | None, overrides: dict[str, Any], as_json: bool, debug: bool) -> int:
    """Play one run and print its result. Returns the exit status."""
    spec = read_spec(file, overrides)
    engine = connect()
    plan = make_plan(spec, engine)
    preflight.check(plan.entrants)
    if plan.left_out:
        some = ", ".join(list(plan.left_out)[:5]) + (", ..." if len(plan.left_out) > 5 else "")
        say(f"{len(plan.left_out)} tasks are invalid and left out ({some}): --include-invalid plays them all the same")
    url = ensure_server(say=say)
    run_id = save_run(Store(engine), plan)
    total = len(plan.tasks) * len(plan.entrants) * spec.attempts
    say(
        f"run {run_id}: {len(plan.tasks)} tasks x {len(plan.entrants)} entrants x {spec.attempts} attempts "
        f"= {total} episodes, {spec.workers} at a time, in {plan.backend.name} sandboxes"
    )
    return play(run_id, total, url, as_json, debug)


def resume(ref: str, errors: bool, changes: dict[str, Any], as_json: bool, debug: bool) -> int:
    """Play what is left of a run, and print its result. Returns the exit status.

    `changes`: fields of the specification, None where they stay.
    """
    engine = connect()
    row = queries.run(engine, ref)
    run_id, total = row["id"], row["episodes_total"]
    changes = {name: value for name, value in changes.items() if value is not None}
    spec = make_spec({**row["spec"], **changes}, "the call")
    if any(entrant.agent == "human" for entrant in spec.entrants):
        again = f"stackrank play {spec.tasks[0]}" if spec.tasks else "stackrank play"
        raise SpecError(f"run {run_id} was played by a person, and nobody else goes on with it: `{again}` begins anew")
    left = row["pending"] + row["running"] + (row["errors"] if errors else 0)
    if not left:
        say(f"nothing is left of run {run_id}: every episode has its verdict")
        if row["status"] != RunStatus.FINISHED:
            # Killed between its last episode and its end.
            store = Store(engine)
            store.start_run(run_id)
            store.end_run(run_id, RunStatus.FINISHED)
        return report(engine, run_id, as_json)
    if changes:
        Store(engine).change_spec(run_id, changes)
    stage_of(run_id)  # what cannot be played is said before anything starts
    url = ensure_server(say=say)
    say(f"run {run_id}: {left} of {total} episodes are left")
    return play(run_id, total, url, as_json, debug, errors=errors)


def play(run_id: int, total: int, url: str, as_json: bool, debug: bool, *, errors: bool = True) -> int:
    """Play what is left of a run through Prefect, and print its result. Returns the exit status."""
    engine = with_patience(connect(), PATIENCE_S)
    os.environ.update(client_env(url))
    # Failures are in the database and on our pages; Prefect would print each one's traceback.
    for name in ("PREFECT_LOGGING_LEVEL", "PREFECT_INTERNAL_LOGGING_LEVEL"):
        os.environ[name] = "INFO" if debug else "CRITICAL"
    os.environ.setdefault("PREFECT_CLIENT_MAX_RETRIES", _RETRIES)
    from httpx import TransportError

    from flows.evaluate import evaluate

    interrupted = False

    def on_interrupt(_signal: int, _frame: FrameType | None) -> None:
        nonlocal interrupted
        if interrupted:
            raise KeyboardInterrupt
        interrupted = True
        say("ending the run: the episodes that are going on are cancelled (again: at once)")
        if not cancel_here(run_id):
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        with progress.shown(engine, run_id, total):
            label = label_of(queries.run(engine, run_id))
            evaluate(run_id=run_id, label=label, errors=errors, return_state=True)
    except TransportError as error:
        # Episodes do not need the server; what is left, if anything, the run's status says.
        say(
            f"warning: the Prefect server is gone ({error}): its pages do not know how run {run_id} ended; what was "
            f"played is in the database, and `stackrank resume {run_id}` goes on with what was not"
        )
        _forget_events()
    finally:
        signal.signal(signal.SIGINT, before)
    status = report(engine, run_id, as_json)
    return INTERRUPTED if interrupted else status


def _forget_events() -> None:
    """Drop what Prefect has not told its server: at exit it would try for seconds to deliver each event."""
    from prefect._internal.concurrency.services import _active_services

    for service in list(_active_services):
        with suppress(Empty):
            while True:
                service._queue.get_nowait()


def report(engine: Engine, run_id: int, as_json: bool) -> int:
    """Print a run's result. Returns the exit status that it means."""
    row = queries.run(engine, run_id)
    if row["status"] == "failed":
        say(f"error: the run failed: {row['reason']}")
    if as_json:
        print_json(queries.run_summary(engine, run_id))
    else:
        show(engine, run_id)
    if row["status"] != RunStatus.FINISHED:
        say(f"`stackrank resume {run_id}` goes on with it")
    return 0 if row["status"] == RunStatus.FINISHED and not row["errors"] else 1


def show(engine: Engine, run_id: int) -> None:
    """The run's leaderboard and failure points for people, and where to look next."""
    row = queries.run(engine, run_id)
    print(f"\nRun {run_id} ({row['name']}): {row['status']} after {row['wall_s'] or 0:.0f} s\n")
    rows = leaderboard_rows(queries.leaderboard(engine, run=run_id))
    columns = {key: name for key, name in LEADERBOARD_COLUMNS.items() if any(each.get(key) for each in rows)}
    print_table(rows, columns, "No episode has a verdict.")
    print("\nFailure points")
    points = []
    for each in queries.failure_points(engine, run=run_id):
        for name, count in sorted(each["failure_points"].items(), key=lambda item: -item[1]):
            points.append({"entrant": each["entrant"], "point": name, "episodes": count})
    columns = {"entrant": "entrant", "point": "failure point", "episodes": "episodes"}
    print_table(points, columns, "No episode is unresolved.")
    if row["errors"]:
        failed = queries.episodes(engine, run_id, verdict="error", limit=3)
        print(f"\n{row['errors']} episodes ended in an error of the infrastructure and are not counted; for instance:")
        for each in failed:
            print(f"  episode {each['id']}: {each['error']}")
    print(f"\nDatabase:  {masked(default_url())}")
    print(f"Episodes:  stackrank episodes {run_id}    (then: stackrank trace EPISODE)")
    print("Dashboard: stackrank dashboard")
