"""Downgrade the schema to one that an earlier version of stackrank works with."""

from __future__ import annotations

from sqlalchemy import Connection, text

from stackrank.db.connection.engine import LOCK, alembic_config, connect, default_url, revision_of
from stackrank.db.connection.errors import DatabaseError
from stackrank.wording import masked, one_of


def lost(target: str, url: str | None = None) -> list[str]:
    """Describe the migrations that a downgrade to `target` takes back, newest first, in one sentence each.

    Raises DatabaseError if `target` is not an earlier schema.
    """
    from alembic.script import ScriptDirectory

    shown = masked(url or default_url())
    with connect(url, migrate=False, create=False).connect() as connection:
        revision = revision_of(connection)
    if revision is None:
        raise DatabaseError(f"The database {shown} has no tables of stackrank: check its address.")
    scripts = {script.revision: script for script in ScriptDirectory.from_config(alembic_config()).walk_revisions()}
    if revision not in scripts:
        raise DatabaseError(f"The database {shown} has the newer schema {revision}: update stackrank first.")
    earlier = sorted(number for number in scripts if number < revision)
    if target not in earlier:
        known = f"choose {one_of(earlier)}" if earlier else "there is no earlier one"
        raise DatabaseError(
            f"The database {shown} has the schema {revision}, and {target!r} is not an earlier one: {known}."
        )
    return [
        f"{number}: {(scripts[number].doc or '').splitlines()[0]}"
        for number in sorted(scripts, reverse=True)
        if target < number <= revision
    ]


def downgrade(target: str, url: str | None = None) -> None:
    """Downgrade the schema in one transaction. Raises DatabaseError as `lost` does."""
    from alembic import command

    lost(target, url)
    engine = connect(url, migrate=False, create=False)
    config = alembic_config()
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        _lock(connection)
        config.attributes["connection"] = connection
        command.downgrade(config, target)
    engine.dispose()


def _lock(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
