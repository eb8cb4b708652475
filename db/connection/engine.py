"""Connect to the database. Its URL chooses SQLite or PostgreSQL; the schema is brought up to date on the way."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from stackrank.db.connection.errors import FAILURES, DatabaseError, explain, is_uri, shown_address
from stackrank.db.connection.pool import FairPool
from stackrank.extras import require
from stackrank.home import home, make_private
from stackrank.settings import absolute_variables, settings, sqlite_url, variable
from stackrank.wording import masked, print_err

HEAD = "0001"
"""The newest migration. A database at this revision is used as it is, and alembic is not even imported."""
VERSION_TABLE = "stackrank_schema"
"""Not alembic's usual name, so that a database can be shared with another program that uses alembic."""
LOCK = 7_236_110_415
"""Key of the PostgreSQL advisory lock under which migrations run."""
_TCP = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 4, "tcp_user_timeout": 30_000}
"""Options of libpq, in seconds; the last one is in milliseconds."""
_SQLITE_OPTIONS = {
    "cache", "cached_statements", "check_same_thread", "detect_types", "immutable", "isolation_level", "mode", "nolock",
    "psow", "timeout", "uri", "vfs",
}  # fmt: skip
_MOST_IDLE_S = 30
_POSTGRES = {"postgres", "postgresql", "postgresql+psycopg"}


def default_url() -> str:
    """`STACKRANK_DATABASE_URL`, with an absolute path, else a SQLite file in `home()`."""
    configured = absolute_variables().get(variable("database_url")) or settings().database_url
    return configured or sqlite_url(home() / "stackrank.db")


def connect(
    url: str | URL | None = None,
    *,
    migrate: bool = True,
    upgrade: bool = False,
    create: bool = True,
    timeout_s: float = 30.0,
) -> Engine:
    """Open the database at `url` (default: `default_url()`).

    `timeout_s` is how many seconds a statement waits for another writer (SQLite) or a connection attempt for the
    server (PostgreSQL, at most 10). With `migrate`, an empty database gets its tables, and SQLite's schema is brought
    up to date if it is behind. In PostgreSQL, where others may be using the older program, a schema that is behind is
    an error, unless `upgrade` or `STACKRANK_AUTO_MIGRATE` is set. Without `migrate` the schema is not checked; without
    `create` the database has to exist. Raises `DatabaseError` for everything that can be wrong.
    """
    parsed = url if isinstance(url, URL) else _parse(url or default_url())
    address = shown_address(parsed)
    try:
        if not create and parsed.drivername == "sqlite" and not Path(str(parsed.database)).expanduser().exists():
            raise DatabaseError(f"The database {address} does not exist: check the file name.")
        engine = _sqlite(parsed, timeout_s) if parsed.drivername == "sqlite" else _postgres(parsed, timeout_s)
        with engine.connect() as connection:
            if parsed.drivername == "sqlite":
                _use_wal(connection)
            revision = revision_of(connection) if migrate else HEAD
        if revision != HEAD:
            if revision is None and not create:
                raise DatabaseError(f"The database {address} has no tables of stackrank: check its address.")
            behind = revision is not None and revision < HEAD
            if behind and parsed.drivername != "sqlite" and not upgrade and not settings().auto_migrate:
                raise DatabaseError(
                    f"The database {address} has the schema {revision} but this version of stackrank needs {HEAD}: "
                    "stop all programs that use it, then run `stackrank db upgrade`."
                )
            _upgrade(engine, address, revision)
    except (*FAILURES, OSError) as error:
        raise explain(error, parsed) from error
    return engine


def separate_pool(engine: Engine) -> Engine:
    """Open the same database with separate connections, for work that must not wait for others in this process."""
    return connect(engine.url, migrate=False).execution_options(**engine.get_execution_options())


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url.strip())
    except (ArgumentError, ValueError) as error:
        raise DatabaseError(
            f"{masked(url)!r} is not a database URL: use sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME."
        ) from error
    if parsed.drivername in {"sqlite", "sqlite+pysqlite"}:
        if parsed.database in {None, "", ":memory:"} or "mode=memory" in str(parsed.database):
            raise DatabaseError(f"{masked(url)} exists only in the memory of one connection: use sqlite:///FILE.")
        options = url.partition("?")[2]
        unknown = {option.partition("=")[0] for option in options.split("&") if options} - _SQLITE_OPTIONS
        if unknown:
            raise DatabaseError(
                f"{masked(url)} has the unknown option {min(unknown)!r}: a `?` in the name of a file is written %3F."
            )
        database = str(parsed.database)
        return parsed.set(drivername="sqlite", database=database if is_uri(parsed) else unquote(database))
    if parsed.drivername in _POSTGRES:
        require("psycopg", extra="postgres", feature="PostgreSQL")
        return parsed.set(drivername="postgresql+psycopg")
    raise DatabaseError(f"{masked(url)} has an unknown scheme: use sqlite:///FILE or postgresql://HOST/NAME.")


def _sqlite(url: URL, timeout_s: float) -> Engine:
    file = Path(str(url.database)).expanduser().absolute()
    if not is_uri(url):
        make_private(file.parent)
        if not file.exists():
            file.touch(mode=0o600)  # SQLite gives the same mode to the files beside it
        url = url.set(database=str(file))
    engine = create_engine(url, connect_args={"timeout": timeout_s}, pool_size=8, max_overflow=56)

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: Any) -> None:
        # The driver must not open transactions by itself: _begin chooses their kind.
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A reader that becomes a writer fails at once if another writer was faster, whatever the timeout.
        write = connection.get_execution_options().get("write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


def _postgres(url: URL, timeout_s: float) -> Engine:
    arguments: dict[str, Any] = {"application_name": "stackrank"}
    if "connect_timeout" not in url.query:
        arguments["connect_timeout"] = max(1, min(10, round(timeout_s)))
    # A server that is cut off sends no error: by default the system waits a quarter of an hour for a reply.
    arguments |= {name: value for name, value in _TCP.items() if name not in url.query}
    # Few connections for each process: a server accepts 100 by default, which all processes of a fleet share. The pool
    # keeps all of them open: a process that needs more than it keeps would open a connection for each transaction.
    engine = create_engine(
        url, poolclass=FairPool, pool_pre_ping=True, pool_size=8, max_overflow=0, connect_args=arguments
    )

    # A process that is cut off in the middle of a transaction must not keep its locks.
    limit = f"idle_in_transaction_session_timeout = '{_MOST_IDLE_S}s'"

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, record: Any) -> None:
        # A pooler such as PgBouncer reports a process number of its own. Behind it, each transaction may run in another
        # session, so no setting and no prepared statement carries over to the next transaction.
        real = connection.execute("SELECT pg_backend_pid()").fetchone()[0]
        record.info["pooled"] = pooled = real != connection.info.backend_pid
        if pooled:
            connection.prepare_threshold = None
        else:
            connection.execute(f"SET {limit}")
        connection.commit()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if connection.info["pooled"]:
            connection.exec_driver_sql(f"SET LOCAL {limit}")

    return engine


def _use_wal(connection: Connection) -> None:
    """Let readers work next to a writer. The file keeps this mode, so it is set only once."""
    raw = connection.connection.dbapi_connection
    assert raw is not None
    connection.rollback()
    cursor = raw.cursor()
    if cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        cursor.execute("PRAGMA journal_mode = WAL")
    cursor.close()


def revision_of(connection: Connection) -> str | None:
    """Return the revision of the schema; None if there is no schema yet."""
    try:
        # In PostgreSQL a failed statement aborts the transaction, which loses the lock, hence the savepoint.
        with connection.begin_nested():
            revision = connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}"))
    except DBAPIError as error:
        if "no such table" in str(error.orig) or getattr(error.orig, "sqlstate", None) == "42P01":
            return None
        raise
    return None if revision is None else str(revision)


def _upgrade(engine: Engine, address: str, revision: str | None) -> None:
    """Run the missing migrations in one transaction, which only one process can be in at a time."""
    from alembic import command

    if revision is not None and revision > HEAD:
        raise DatabaseError(
            f"The database {address} has the newer schema {revision}: update stackrank or use another database."
        )
    config = alembic_config()
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
        current = revision_of(connection)  # Another process may have been faster while this one waited.
        if current is None or current < HEAD:
            config.attributes["connection"] = connection
            command.upgrade(config, HEAD)


def compact(engine: Engine) -> int:
    """Free the unused space of a SQLite file if it is at least a quarter of the file, and return the bytes freed.

    PostgreSQL does so by itself. Needs disk space for the data that remains; a file that another process is writing to
    stays as it is.
    """
    if engine.dialect.name != "sqlite":
        return 0
    with closing(engine.raw_connection()) as connection:  # outside of any transaction
        cursor = connection.cursor()
        names = ("page_size", "freelist_count", "page_count")
        size, free, pages = (int(cursor.execute(f"PRAGMA {name}").fetchone()[0]) for name in names)
        if free * 4 < pages:
            return 0
        try:
            cursor.execute("VACUUM")
        except sqlite3.OperationalError as error:
            print_err(f"could not free {free * size / 1e6:.0f} MB of unused space in the database file: {error}")
            return 0
    return free * size


def alembic_config(url: str | None = None) -> Any:
    """Alembic's configuration, without a file: for `connect`, and for developers who write a migration."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parents[1] / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    if url is not None:
        config.attributes["url"] = url
    return config
