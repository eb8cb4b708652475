"""Commands about runs that are going on, or were."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.cli_options import Decimal, Json, Number

app = typer.Typer()
Run = Annotated[str, typer.Argument(help="A run's number or name, or `latest`.")]


@app.command()
def resume(
    context: typer.Context,
    run: Run = "latest",
    errors: Annotated[bool, typer.Option(help="Also what ended in an error of the infrastructure.")] = True,
    workers: Annotated[Number, typer.Option(help="Episodes at the same time, from now on.")] = None,
    budget: Annotated[Decimal, typer.Option(help="Dollars the run may cost in all.")] = None,
    as_json: Json = False,
) -> None:
    """Go on with a run that was cut off, cancelled or stopped; nothing that is done is done again."""
    from flows.commands.play_run import resume as play

    changes = {"workers": workers, "budget_usd": budget}
    raise typer.Exit(play(run, errors, changes, as_json, bool((context.obj or {}).get("debug"))))


@app.command()
def cancel(run: Run = "latest", as_json: Json = False) -> None:
    """End a run wherever it is played: what goes on is cut off within seconds, and can be resumed."""
    from flows.commands.cancel import cancel as end

    raise typer.Exit(end(run, as_json))
