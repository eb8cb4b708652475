"""Commands of an operator about a run that exists: pause, set, retry, cancel. `resume` is beside `run`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from stackrank.flows.cli.options import Episode, Json, Run, Why
from stackrank.flows.cli.output import print_json
from stackrank.wording import count_of, print_err, print_out

if TYPE_CHECKING:
    from stackrank.db.queries.runs import RunRow

app = typer.Typer()


@app.command()
def pause(run: Run = "latest", why: Why = "", as_json: Json = False) -> None:
    """Let no more episodes of a run start, on whichever machine it runs. Those in progress go on to their end.

    `stackrank resume` lets it go on. A paused run survives the end of its process.
    """
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.acts import Acts
    from stackrank.settings import default_owner

    engine = connect()
    row = queries.run(engine, run)
    was_paused = not Acts(engine).pause(row["id"], person=default_owner(), why=why)
    print_acted(queries.run(engine, row["id"]), as_json, "was paused already" if was_paused else "is paused")


@app.command("set")
def set_fields(
    run: Run,
    assignments: Annotated[list[str], typer.Argument(metavar="FIELD=VALUE...", help="For instance workers=2.")],
    why: Why = "",
    as_json: Json = False,
) -> None:
    """Change how a run is played, while it is played: workers, requests_per_minute, budget_usd, retries and the like.

    Whatever would change what happens in an episode is refused: its results could not be compared with the others.
    """
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.acts import Acts
    from stackrank.flows.runs.operating.tuning import read_assignments
    from stackrank.settings import default_owner

    engine = connect()
    row = queries.run(engine, run)
    changes = read_assignments(assignments, row["spec"])
    acts = Acts(engine)
    differing = acts.tune(row["id"], changes, person=default_owner(), why=why)
    if changes.get("stop", ...) is None:
        acts.unskip(row["id"])
    if as_json:
        print_json(
            {"run": row["id"], "changed": {name: {"from": old, "to": new} for name, (old, new) in differing.items()}}
        )
        return
    for name, (old, new) in differing.items():
        print_out(f"{name}: {old} -> {new}")
    print_acted(row, False, "has new settings" if differing else "had these settings already")


@app.command()
def retry(episode: Episode, why: Why = "", as_json: Json = False) -> None:
    """Give an episode that ended in an error another try."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.acts import Acts
    from stackrank.flows.runs.operating.absence import is_played
    from stackrank.settings import default_owner

    engine = connect()
    run_id = Acts(engine).retry(queries.episode(engine, episode)["id"], person=default_owner(), why=why)
    row = queries.run(engine, run_id)
    doing = (
        "will try it again" if is_played(engine, row) else f"is {row['status']}: `stackrank resume {run_id}` plays it"
    )
    print_acted(row, as_json, doing)


@app.command()
def cancel(run: Run = "latest", as_json: Json = False) -> None:
    """Cancel a run, on whichever machine it runs. Its episodes end within seconds; you can resume it."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.store import Store
    from stackrank.flows.runs.operating.cancel import cancel_run

    engine = connect()
    claims = cancel_run(Store(engine), run)
    row = queries.run(engine, run)
    counts = queries.progress(engine, row["id"])
    if as_json:
        print_json({"run": row["id"], "status": "cancelled", **counts})
    else:
        progress_text = f"{counts['done']} of {count_of(row['episodes_total'], 'episode')} ended"
        print_out(f"Run {row['id']} ({row['name']}) is cancelled: {progress_text}.")
        print_out(f"Resume it with `stackrank resume {row['id']}`.")
    if claims:
        workers = ", ".join(sorted({claim["claimed_by"].partition("#")[0] for claim in claims}))
        print_err(
            f"{count_of(len(claims), 'episode has', 'episodes have')} not ended yet because a worker does not "
            f"answer: {workers}"
        )
        raise typer.Exit(1)


def print_acted(run: RunRow, as_json: bool, doing: str) -> None:
    """Print what has become of a run."""
    if as_json:
        print_json({"run": run["id"], "status": run["status"], "paused": run["paused"]})
    else:
        print_out(f"Run {run['id']} ({run['name']}) {doing}.")
