"""Plays a run within a command: begins or reopens it, shows its progress, and prints its result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stackrank.errors import InfrastructureError, UsageError
from stackrank.flows.cli.output import (
    leaderboard_columns,
    leaderboard_remarks,
    leaderboard_rows,
    print_json,
    print_scope,
    print_table,
)
from stackrank.flows.cli.progress import progress
from stackrank.terms import Decision, RunStatus
from stackrank.wording import count_of, masked, print_err, print_out, usd

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from stackrank.db.queries.runs import RunRow
    from stackrank.db.writes.store import Store
    from stackrank.flows.runs.specification.spec import RunSpec

INTERRUPTED = 130
"""The exit status of a command that was interrupted."""
_PERIOD_S = 0.5


def prepare_interrupted(engine: Engine, run_id: int, path: Path) -> str | None:
    """Prepare an interrupted run of a command over the tasks in `path` to continue.

    Returns the address of the Prefect server that plays the rest, empty if nothing is left. Returns None if the run
    cannot continue; the reason is printed.
    """
    from stackrank.db import queries

    try:
        row = queries.run(engine, run_id)
        pending = row["pending"] + row["running"] + row["errors"]
        if row["spec"]["path"] != str(path.absolute()):
            return None
        if not pending or row["status"] in (RunStatus.FINISHED, RunStatus.FAILED):
            return ""
        return prepare_resume(engine, row, pending)
    except UsageError as error:
        print_err(f"run {run_id} cannot be continued, so a new one replaces it: {error}")
        return None


def prepare_resume(engine: Engine, run: RunRow, pending: int) -> str:
    """Prepare a run with `left` episodes to continue. Returns the address of the Prefect server that plays it."""
    from stackrank.db.writes.store import Store
    from stackrank.flows.runs.playing.session import join_run
    from stackrank.flows.services.prefect_server import ensure_server

    join_run(run["id"], print_err)  # raises before anything starts if the run cannot be played
    url = ensure_server(say=print_err)
    reopen(Store(engine), run)
    print_err(f"run {run['id']}: {pending} of {count_of(run['episodes_total'], 'episode')} left")
    return url


def reopen(store: Store, run: RunRow) -> None:
    """Reopen a cancelled run. Raises SpecError if it was changed since it was read."""
    from stackrank.db import queries
    from stackrank.flows.runs.specification.spec import SpecError

    if run["status"] == RunStatus.CANCELLED and not store.reopen_run(run):
        status = queries.run(store.engine, run["id"])["status"]
        raise SpecError(
            f"run {run['id']} has changed in the meantime and is {status}: run `stackrank resume {run['id']}` again"
        )


def begin(engine: Engine, spec: RunSpec) -> tuple[int, str]:
    """Check, build and save a run. Returns its number, and the address of the Prefect server that plays it."""
    from stackrank.db.writes.store import Store
    from stackrank.flows.runs.playing.session import open_session
    from stackrank.flows.runs.preparing.first_check import explain
    from stackrank.flows.runs.preparing.prepared_run import prepare
    from stackrank.flows.runs.preparing.stored_run import create_run
    from stackrank.flows.services.prefect_server import ensure_server

    prepared = prepare(spec, print_err, engine)
    for error in prepared.silent_endpoints.values():
        raise error
    for name, reason in {**prepared.left_out, **prepared.idle}.items():
        print_err(f"left out: {name}: {reason}")
    if invalid := list(prepared.invalid):
        more = f"; {len(invalid) - 3} more" if len(invalid) > 3 else ""
        sentence = (
            f"{count_of(len(invalid), 'task is', 'tasks are')} invalid and left out ({explain(prepared.invalid)}{more})"
        )
        print_err(f"{sentence}: --include-invalid plays them anyway")
    url = ensure_server(say=print_err)
    run_id = open_session(create_run(Store(engine), prepared)).run_id
    total = len(prepared.tasks) * len(prepared.entrants) * spec.attempts
    print_err(
        f"run {run_id}: {count_of(len(prepared.tasks), 'task')} x {count_of(len(prepared.entrants), 'entrant')} "
        f"x {count_of(spec.attempts, 'attempt')} = "
        f"{count_of(total, 'episode')}, {spec.workers} at a time, in {prepared.backend.name} sandboxes"
    )
    return run_id, url


def evaluate(run_id: int, url: str, as_json: bool, debug: bool, *, errors: bool = True) -> int:
    """Play the rest of a run through Prefect and print its result. Returns the exit status."""
    from stackrank.db.connection.engine import connect
    from stackrank.db.connection.retries import with_patience
    from stackrank.flows.runs.playing.session import PATIENCE_S

    interrupted = play_rest(run_id, url, debug, errors=errors)
    status = print_result(with_patience(connect(), PATIENCE_S), run_id, as_json)
    return INTERRUPTED if interrupted else status


def play_rest(run_id: int, url: str, debug: bool, *, errors: bool = True) -> bool:
    """Play the rest of a run through Prefect. Returns whether it was interrupted."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect
    from stackrank.db.connection.retries import with_patience
    from stackrank.flows.engine.evaluate_here import evaluate_here
    from stackrank.flows.runs.playing.progress import Counts, follow_progress
    from stackrank.flows.runs.playing.session import PATIENCE_S
    from stackrank.flows.runs.preparing.stored_run import label_of

    engine = with_patience(connect(), PATIENCE_S)
    row = queries.run(engine, run_id)
    with progress("episodes", row["episodes_total"]) as show:

        def shown(counts: Counts) -> None:
            cost = f", {usd(counts['cost_usd'])}" if counts["cost_usd"] else ""
            verdicts = ", ".join(f"{counts[name]} {name}" for name in ("resolved", "unresolved", "errors"))
            waits = f"; paused: {out}" if (out := queries.describe_outages(queries.outages(engine, run_id))) else ""
            show(counts["done"], row["episodes_total"] - counts["not_played"], verdicts + cost + waits)

        with follow_progress(engine, run_id, _PERIOD_S, shown):
            on_pool = bool(row["spec"].get("pool"))
            return evaluate_here(
                run_id,
                label_of(row),
                url=url,
                errors=errors,
                debug=debug,
                on_pool=on_pool,
                say=print_err,
                is_started=lambda: queries.run(engine, run_id) != row,
            )


def require_finished(engine: Engine, run_id: int) -> None:
    """Raise InfrastructureError if a run was not played to its end, for instance because Prefect did not answer."""
    from stackrank.db import queries

    if not RunStatus(queries.run(engine, run_id)["status"]).ended:
        raise InfrastructureError(f"run {run_id} has not been played to its end: repeat the command to continue")


def print_result(engine: Engine, run_id: int, as_json: bool) -> int:
    """Print the result of a run. Returns the exit status."""
    from stackrank.db import queries
    from stackrank.flows.runs.preparing.entrants import idle_entrants
    from stackrank.flows.runs.specification.spec import make_spec

    row = queries.run(engine, run_id)
    if row["status"] == RunStatus.FAILED:
        print_err(f"error: the run failed: {row['reason']}")
    if as_json:
        left_out = idle_entrants(make_spec(row["spec"], f"run {run_id}"))
        print_json({**queries.run_summary(engine, run_id), "left_out": left_out})
    else:
        _print_tables(engine, run_id)
    if row["status"] != RunStatus.FINISHED:
        print_err(f"Resume it with `stackrank resume {run_id}`.")
    return 0 if row["status"] == RunStatus.FINISHED and not row["errors"] else 1


def _print_tables(engine: Engine, run_id: int) -> None:
    """Print the run's leaderboard and failure points, and where to look next."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import default_url

    row = queries.run(engine, run_id)
    print_out(f"\nRun {run_id} ({row['name']}): {row['status']} after {row['wall_s'] or 0:.0f} s\n")
    board = queries.board(engine, queries.Scope(run=run_id))
    ranked = [*board["entrants"], *board["reference"]]
    rows = leaderboard_rows(ranked)
    columns = {key: name for key, name in leaderboard_columns(ranked).items() if any(row.get(key) for row in rows)}
    print_table(rows, columns, "No episode has a verdict.")
    for remark in leaderboard_remarks(ranked):
        print_out(remark)
    print_scope(board["scope"])
    if stop := queries.stopping(engine, run_id):
        print_out(f"\nStopped early: {stop['sentence']}")
        for pair in stop["pairs"]:
            if pair["decision"] != Decision.OPEN:
                print_out(f"  {pair['sentence']}")
    print_out("\nFailure points")
    points = [
        {"entrant": entrant["entrant"], "point": name, "episodes": count}
        for entrant in queries.failure_points(engine, queries.Scope(run=run_id))
        for name, count in sorted(entrant["failure_points"].items(), key=lambda item: -item[1])
    ]
    columns = {"entrant": "entrant", "point": "failure point", "episodes": "episodes"}
    print_table(points, columns, "No episode is unresolved.")
    if row["errors"]:
        print_out(
            f"\n{count_of(row['errors'], 'episode')} ended in an infrastructure error and did not count, for instance:"
        )
        for episode in queries.episodes(engine, run_id, verdict="error", limit=3):
            print_out(f"  episode {episode['id']}: {episode['error']}")
    print_out(f"\nDatabase:  {masked(default_url())}")
    print_out(f"Episodes:  stackrank episodes {run_id}    (then: stackrank trace EPISODE)")
    print_out("Dashboard: stackrank dashboard")
