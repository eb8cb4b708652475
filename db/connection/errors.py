"""Errors of the database, each explained in one sentence that says what to do."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, OperationalError, TimeoutError

from stackrank.errors import InfrastructureError, StackrankError, UsageError
from stackrank.host.disk import is_full
from stackrank.settings import sqlite_url
from stackrank.wording import masked

RUN_COMMAND = "stackrank run --benchmark bugs --agent repair"
"""The command that starts a first run; it needs no model."""
NO_RUN = f"There is no run yet: start one with `{RUN_COMMAND}`."
FAILURES = (DBAPIError, TimeoutError, sqlite3.Error)
"""The exceptions raised if the database is at fault, and not the statement's author."""
# PostgreSQL: serialization failure, deadlock, lock not available, idle for too long in a transaction.
_TRANSIENT_STATES = {"40001", "40P01", "55P03", "25P03"}


class DatabaseError(InfrastructureError):
    """The database cannot be used. The message is one sentence with the address and the remedy."""


class NotFound(UsageError):
    """What was asked for is not in the database. The message is one sentence with the remedy."""


def no_episode(number: int | str) -> NotFound:
    """Return the error for a number that no episode has."""
    return NotFound(f"There is no episode {_quote(number)}: `stackrank episodes RUN` lists them.")


def no_proposal(number: int | str) -> NotFound:
    """Return the error for a number that no proposal has."""
    return NotFound(f"There is no proposal {_quote(number)}: `stackrank review --list` lists them.")


def _quote(reference: int | str) -> str:
    text = str(reference)[:80]
    return text if text.isdecimal() else repr(text)


class NotComparable(UsageError):
    """The request compares things that are not comparable. The message says why, and what can be compared."""


class ClaimLost(StackrankError):
    """A worker has lost the claim on an episode it writes about: it was taken for dead, or the run was cancelled."""


def is_transient(error: BaseException) -> bool:
    """Whether the same transaction may succeed when it is tried again."""
    if isinstance(error, TimeoutError):  # all connections of this process are taken
        return True
    if not isinstance(error, DBAPIError):
        return False
    if error.connection_invalidated:
        return True
    if getattr(error.orig, "sqlstate", None) in _TRANSIENT_STATES:
        return True
    text = str(error.orig).lower()
    return "database is locked" in text or "database table is locked" in text or "database is busy" in text


def is_unreachable(error: BaseException) -> bool:
    """Whether the server cannot be reached at the moment, or all connections of this process are taken."""
    if isinstance(error, TimeoutError):
        return True
    if not isinstance(error, DBAPIError) or not type(error.orig).__module__.startswith("psycopg"):
        return False
    state = getattr(error.orig, "sqlstate", None)
    if state is None:
        return error.connection_invalidated or isinstance(error, OperationalError)
    # Connection exceptions; the server is shut down by its administrator or after a crash, or it is starting up.
    return str(state).startswith("08") or state in {"57P01", "57P02", "57P03"}


def _cause(error: BaseException) -> str:
    """The first line of what the driver said, without its final period."""
    original = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    if isinstance(original, OSError) and original.strerror:
        return f"{original.filename}: {original.strerror}" if original.filename else original.strerror
    lines = [line.strip() for line in str(original).splitlines() if line.strip()]
    line = lines[0] if lines else type(original).__name__
    # psycopg repeats the host in a list of attempts; the text after the last "failed:" says what happened.
    return masked(line.rsplit("failed: ", 1)[-1]).rstrip(".")


def shown_address(url: URL) -> str:
    """Return the address of a database for people, without its password."""
    if url.drivername == "sqlite" and not is_uri(url):
        return sqlite_url(str(url.database))
    return masked(url.render_as_string())


def is_uri(url: URL) -> bool:
    """Whether the database is a URI of SQLite's own, which SQLite reads."""
    return str(url.database).startswith("file:")


def _remedy(error: BaseException, url: URL) -> tuple[str, str]:
    """Return what happened and what to do about it."""
    text = str(error).lower()
    if isinstance(error, TimeoutError):
        return "has no free connection", "use fewer workers"
    if url.drivername == "sqlite":
        if ("disk" in text and "full" in text) or is_full(Path(str(url.database)).parent):
            return "is on a full disk", "free some space, or set STACKRANK_DATABASE_URL to another disk"
        if "is locked" in text or "busy" in text:
            return "is locked by another program", "end that program or use PostgreSQL"
        if "not a database" in text or "malformed" in text:
            return "is not a database", "move the file away or set STACKRANK_DATABASE_URL to another one"
        refused = ("readonly", "read-only", "permission", "unable to open")
        if isinstance(error, OSError) or any(word in text for word in refused):
            return (
                f"cannot be opened for writing ({_cause(error)})",
                "make the folder writable, or set STACKRANK_HOME or STACKRANK_DATABASE_URL to another",
            )
        return f"failed ({_cause(error)})", "check the file or set STACKRANK_DATABASE_URL"
    if "password" in text or "authentication" in text or "no pg_hba.conf" in text or "role" in text:
        return f"refused the login ({_cause(error)})", "check user and password in STACKRANK_DATABASE_URL"
    if "does not exist" in text and "database" in text:
        return f"is missing ({_cause(error)})", "create it with createdb or change STACKRANK_DATABASE_URL"
    if "permission denied" in text:
        return f"refused the statement ({_cause(error)})", "grant the role its rights"
    return f"cannot be reached ({_cause(error)})", "start the server or change STACKRANK_DATABASE_URL"


def explain(error: Exception, url: URL) -> DatabaseError:
    """Return a `DatabaseError` that says in one sentence what `error` means for the database at `url`."""
    address = shown_address(url)
    problem, remedy = _remedy(error, url)
    return DatabaseError(f"The database {address} {problem}: {remedy}.")
