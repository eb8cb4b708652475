"""`stackrank db`."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.cli_options import Json

app = typer.Typer(help="The database of results: its schema, its size, moving it.", no_args_is_help=True)


@app.command()
def info(as_json: Json = False) -> None:
    """Say where the database is, which schema it has, and how much is in it."""
    from flows.commands import database

    database.info(as_json)


@app.command()
def upgrade(as_json: Json = False) -> None:
    """Bring the schema up to date."""
    from flows.commands import database

    database.upgrade(as_json)


@app.command()
def copy(
    source: Annotated[str, typer.Option("--from", help="URL of the database to copy.")],
    target: Annotated[str, typer.Option("--to", help="URL of an empty database.")],
    as_json: Json = False,
) -> None:
    """Copy everything into an empty database, for instance from SQLite into PostgreSQL."""
    from flows.commands import database

    database.copy(source, target, as_json)
