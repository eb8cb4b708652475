"""`stackrank db`: what a team's database needs now and then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import text

from db.copy import copy as copy_rows
from db.copy import counts
from db.engine import HEAD, connect, default_url, revision_of
from db.errors import DatabaseError, masked
from flows.output import print_json, print_table, say


def upgrade(as_json: bool) -> None:
    """Bring the schema up to date."""
    before = _revision()
    connect(upgrade=True).dispose()
    if as_json:
        print_json({"database": masked(default_url()), "before": before, "schema": HEAD})
    elif before == HEAD:
        print(f"{masked(default_url())} already has the schema {HEAD}")
    else:
        print(f"{masked(default_url())}: schema {before or 'none'} -> {HEAD}")


def info(as_json: bool) -> None:
    """Where the database is, its schema and its size."""
    found = _revision()
    document: dict[str, Any] = {"database": masked(default_url()), "schema": found, "newest_schema": HEAD}
    engine = connect(migrate=False)
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            document["server"] = f"PostgreSQL {connection.scalar(text('SHOW server_version'))}"
            document["bytes"] = connection.scalar(text("SELECT pg_database_size(current_database())"))
        else:
            document["server"] = f"SQLite {connection.scalar(text('SELECT sqlite_version()'))}"
            document["bytes"] = Path(str(engine.url.database)).stat().st_size
    document["rows"] = counts(engine) if found == HEAD else {}
    if as_json:
        print_json(document)
        return
    print(f"{document['database']} ({document['server']}), {document['bytes'] / 1e6:.1f} MB, schema {found or 'none'}")
    if found != HEAD:
        print(f"This stackrank works with the schema {HEAD}: `stackrank db upgrade` makes it so.")
    rows = [{"table": table, "rows": count} for table, count in document["rows"].items()]
    print_table(rows, {"table": "table", "rows": "rows"}, "It has no tables of ours yet.")


def copy(source: str, target: str, as_json: bool) -> None:
    """Copy all rows from one database into another, empty one."""
    if source.strip() == target.strip():
        raise DatabaseError(f"--from and --to are the same database {masked(source)}: name two.")
    rows = copy_rows(connect(source, create=False), connect(target), lambda table, count: say(f"{table}: {count} rows"))
    if as_json:
        print_json({"from": masked(source), "to": masked(target), "rows": rows})
    else:
        print(f"copied {sum(rows.values())} rows; use them with STACKRANK_DATABASE_URL={masked(target)}")


def _revision() -> str | None:
    with connect(migrate=False).connect() as connection:
        return revision_of(connection)
