"""CHECK constraints of tables that are there: for a new rule, and for a vocabulary that grew."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

from stackrank.db.connection.errors import DatabaseError
from stackrank.wording import count_of


def set_check(table: str, name: str, condition: str) -> None:
    """Give the table the rule `ck_TABLE_NAME`, in the place of an older one of that name.

    Raises DatabaseError for rows that break it.
    """
    drop_check(table, name)
    # A condition that is NULL holds, as for the database itself.
    breaking = op.get_bind().scalar(text(f'SELECT count(*) FROM "{table}" WHERE NOT ({condition})'))
    if breaking:
        raise DatabaseError(
            f"{count_of(breaking, 'row')} of the table {table} break a rule of the new schema, {condition}: "
            "correct or delete them, then upgrade again."
        )
    if op.get_bind().dialect.name == "postgresql":
        op.create_check_constraint(op.f(f"ck_{table}_{name}"), table, condition)
    else:
        _rewrite(
            table, f"{_definition(table).rstrip()[:-1].rstrip()}, \n\tCONSTRAINT ck_{table}_{name} CHECK ({condition}))"
        )


def drop_check(table: str, name: str) -> None:
    """Take the rule `ck_TABLE_NAME` from the table, if it has it."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f'ALTER TABLE "{table}" DROP CONSTRAINT IF EXISTS "ck_{table}_{name}"')
        return
    definition = _definition(table)
    start = definition.find(f"CONSTRAINT ck_{table}_{name} CHECK (")
    if start < 0:
        return
    end = definition.index("(", start) + 1
    depth = 1
    while depth:  # the terms of our vocabularies have no brackets
        depth += {"(": 1, ")": -1}.get(definition[end], 0)
        end += 1
    head = definition[:start].rstrip()
    # A constraint of the table has a comma of its own, one of a column has none.
    _rewrite(table, head.removesuffix(",") + definition[end:])


def _definition(table: str) -> str:
    query = text("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = :table")
    return str(op.get_bind().scalar(query, {"table": table}))


def _rewrite(table: str, definition: str) -> None:
    """Change what SQLite knows of a table, without touching its rows: https://sqlite.org/lang_altertable.html#otheralter"""
    connection = op.get_bind()
    version = connection.exec_driver_sql("PRAGMA schema_version").scalar()
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    change = text("UPDATE sqlite_master SET sql = :sql WHERE type = 'table' AND name = :table")
    connection.execute(change, {"sql": definition, "table": table})
    connection.exec_driver_sql(f"PRAGMA schema_version = {int(version or 0) + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")
