"""Tests that ask for a database server."""

from __future__ import annotations

import re

_ASKS_FOR_SERVER = re.compile(
    r"\b(psycopg2?|MySQLdb|mysqlclient|cx_Oracle|oracledb)\b|connect(ion)? to (MySQL |MariaDB )?server|Can't connect to"
)
"""What the errors of drivers say: that they are not installed, or that no server answers."""


def database_remedy(error: str) -> str:
    """Return what to do if this error asks for a database server, or an empty text."""
    if not _ASKS_FOR_SERVER.search(error):
        return ""
    return (
        "a sandbox has no database server, so choose a database without one, such as SQLite, if the settings have one, "
        "as with --test 'DB=sqlite3 COMMAND'"
    )
