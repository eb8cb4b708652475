"""`stackrank db`: maintenance of the database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stackrank.flows.cli.options import Json
from stackrank.flows.cli.output import print_json, print_table
from stackrank.flows.cli.plugin_commands import Group
from stackrank.wording import count_of, masked, print_err, print_out

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from stackrank.db.queries.runs import RunSummary


app = typer.Typer(cls=Group, help="Manage the database of results.", no_args_is_help=True)


@app.command()
def info(as_json: Json = False) -> None:
    """Show where the database is, which schema it has, and how much it contains."""
    from stackrank.db.connection.engine import HEAD, connect, default_url, revision_of
    from stackrank.db.maintenance.copy import counts, server_and_size

    engine = connect(migrate=False)
    with engine.connect() as connection:
        schema = revision_of(connection)
        server, size = server_and_size(connection)
    rows = counts(engine) if schema == HEAD else {}
    database = masked(default_url())
    if as_json:
        document = {"database": database, "schema": schema, "newest_schema": HEAD, "server": server, "bytes": size}
        print_json({**document, "rows": rows})
        return
    print_out(f"{database} ({server}), {size / 1e6:.1f} MB, schema {schema or 'none'}")
    if schema != HEAD:
        print_out(f"This version of stackrank needs the schema {HEAD}: run `stackrank db upgrade`.")
    tables = [{"table": table, "rows": count} for table, count in rows.items()]
    print_table(tables, {"table": "table", "rows": "rows"}, "It has no tables of stackrank yet.")


@app.command()
def upgrade(as_json: Json = False) -> None:
    """Bring the schema up to date."""
    from stackrank.db.connection.engine import HEAD, connect, default_url, revision_of

    with connect(migrate=False).connect() as connection:
        old_schema = revision_of(connection)
    connect(upgrade=True).dispose()
    database = masked(default_url())
    if as_json:
        print_json({"database": database, "before": old_schema, "schema": HEAD})
    elif old_schema == HEAD:
        print_out(f"{database} already has the schema {HEAD}")
    else:
        print_out(f"{database}: schema {old_schema or 'none'} -> {HEAD}")


@app.command()
def copy(
    source: Annotated[str, typer.Option("--from", help="URL of the database to copy.")],
    target: Annotated[str, typer.Option("--to", help="URL of an empty database.")],
    as_json: Json = False,
) -> None:
    """Copy everything into an empty database, for instance from SQLite into PostgreSQL."""
    from stackrank.db.connection.engine import connect
    from stackrank.db.connection.errors import DatabaseError
    from stackrank.db.maintenance.copy import copy as copy_rows

    if source.strip() == target.strip():
        raise DatabaseError(f"--from and --to are the same database {masked(source)}: name two.")
    rows = copy_rows(
        connect(source, create=False),
        connect(target),
        lambda table, count: print_err(f"{table}: {count_of(count, 'row')}"),
    )
    if as_json:
        print_json({"from": masked(source), "to": masked(target), "rows": rows})
    else:
        print_out(
            f"copied {count_of(sum(rows.values()), 'row')}; use them with STACKRANK_DATABASE_URL={masked(target)}"
        )


Runs = Annotated[list[str] | None, typer.Argument(help="Runs by number or name, or `latest`.", metavar="[RUN]...")]
OlderThan = Annotated[
    float | None, typer.Option("--older-than", min=0, help="Only runs created at least this many days ago.")
]
Tag = Annotated[str, typer.Option(help="Only runs with this tag.")]


@app.command()
def archive(
    to: Annotated[Path, typer.Option("--to", help="A new folder for the files.")],
    run: Runs = None,
    older_than: OlderThan = None,
    tag: Tag = "",
    as_json: Json = False,
) -> None:
    """Write runs, completely, to Parquet files: for pandas and R, or before you prune them."""
    from stackrank.db.connection.engine import connect
    from stackrank.db.connection.errors import DatabaseError
    from stackrank.db.maintenance.archive import archive as write_archive

    engine = connect()
    runs = _select_runs(engine, run, older_than, tag)
    if not runs:
        raise DatabaseError("no finished run matches: `stackrank runs` lists the runs")
    counts = write_archive(engine, [row["id"] for row in runs], to)
    if as_json:
        print_json({"folder": str(to), "runs": [row["id"] for row in runs], "rows": counts})
    else:
        rows = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        print_out(f"archived {_describe_runs(runs)} in {to}: {rows}")


@app.command()
def prune(
    run: Runs = None,
    older_than: OlderThan = None,
    tag: Tag = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be deleted.")] = False,
    as_json: Json = False,
) -> None:
    """Delete ended runs with their episodes, steps, verdicts and notes. Tasks and entrants stay."""
    from stackrank.db.connection.engine import compact, connect
    from stackrank.db.maintenance.prune import Pruning, counted

    engine = connect()
    runs = _select_runs(engine, run, older_than, tag)
    rows = counted(engine, [row["id"] for row in runs])
    freed = 0
    if not dry_run:
        pruning = Pruning(engine)
        for row in runs:
            pruning.delete_run(row["id"])
        rows["change"] = pruning.delete_changes()
        freed = compact(engine)
    if as_json:
        document = {"runs": [row["id"] for row in runs], "rows": rows, "dry_run": dry_run, "freed_bytes": freed}
        print_json(document)
    else:
        smaller = f"; the file is {freed / 1e6:.1f} MB smaller" if freed else ""
        print_out(
            f"{'would delete' if dry_run else 'deleted'} {_describe_runs(runs)} with {_describe_counts(rows)}{smaller}"
        )


def _select_runs(engine: Engine, refs: list[str] | None, older_than: float | None, tag: str) -> list[RunSummary]:
    from stackrank.db.maintenance.prune import ended_runs

    if not refs and older_than is None and not tag:
        raise typer.BadParameter("name the runs by number or name, or select them with --older-than DAYS or --tag TAG")
    return ended_runs(engine, refs or (), older_than_days=older_than, tag=tag)


def _describe_runs(runs: list[RunSummary]) -> str:
    names = [f"{row['id']} ({row['name']})" for row in runs]
    listed_names = f", {', '.join(names[:5])}{', ...' * (len(names) > 5)}" if names else ""
    return f"{len(names)} run{'s' * (len(names) != 1)}{listed_names}"


_TABLE_NAMES = {"episode": "episodes", "step": "steps", "verdicts": "verdicts", "note": "notes", "change": "changes"}


def _describe_counts(rows: dict[str, int]) -> str:
    """Return the row counts that matter to people, as text."""
    amounts = [f"{rows[table]:,} {name}" for table, name in _TABLE_NAMES.items() if rows.get(table)]
    return ", ".join(amounts) or "no episodes"
