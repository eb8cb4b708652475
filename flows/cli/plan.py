"""The command that plans a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stackrank.flows.cli.options import Json
from stackrank.flows.cli.output import print_json, print_table
from stackrank.wording import duration, print_out, usd

app = typer.Typer()


@app.command()
def plan(
    spec: Annotated[Path, typer.Argument(help="A run specification in YAML.")],
    detect: Annotated[
        float, typer.Option(min=0.1, max=99, help="The difference to detect, in percentage points.")
    ] = 5.0,
    attempts: Annotated[int | None, typer.Option(help="Replaces `attempts` of the specification.")] = None,
    limit: Annotated[int | None, typer.Option(help="Replaces `limit` of the specification.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="As for `stackrank run`.")] = None,
    as_json: Json = False,
) -> None:
    """Show what difference a run can detect, and the tasks, attempts, dollars and hours to detect a given one."""
    from stackrank.db.connection.engine import connect
    from stackrank.flows.runs.preparing.plan import plan as make_plan
    from stackrank.flows.runs.specification.spec import read_spec

    run_spec = read_spec(spec, {"attempts": attempts, "limit": limit, "model": model})
    document = make_plan(connect(), run_spec, detect / 100)
    if as_json:
        print_json(document)
        return
    print_out(document["sentence"])
    print_out()
    cells = [
        {
            **option,
            "usd": usd(option["usd"]),
            "time": duration(3600 * option["hours"]),
            "possible": "yes" if option["possible"] else f"no: there are {document['tasks_available']}",
        }
        for option in document["options"]
    ]
    columns = {"attempts": "attempts", "tasks": "tasks", "episodes": "episodes", "usd": "cost", "time": "time"}
    print_table(cells, {**columns, "possible": "possible"}, "")
    print_out()
    print_out(document["variance"]["sentence"])
    print_out(document["episode"]["sentence"])
