"""Connecting: one URL chooses SQLite or PostgreSQL, and the schema is brought up to date on the way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import platformdirs
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from db.errors import FAILURES, DatabaseError, explain, masked

HEAD = "0002"
"""The newest migration. A database at this revision is used as it is, and alembic is not even imported."""
VERSION_TABLE = "stackrank_schema"
"""Not alembic's usual name, so that a database can be shared with another program that uses alembic."""
_LOCK = 7_236_110_415
"""Key of the PostgreSQL advisory lock under which migrations run."""
_TCP = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 4, "tcp_user_timeout": 30_000}
"""Options of libpq: seconds, and for the last one milliseconds."""
_MOST_IDLE_S = 30
_POSTGRES = {"postgres", "postgresql", "postgresql+psycopg"}


def home() -> Path:
    """The folder of stackrank's own files: `STACKRANK_HOME`, else the platform's place for user data."""
    chosen = os.environ.get("STACKRANK_HOME")
    return Path(chosen).expanduser() if chosen else platformdirs.user_data_path("stackrank")


def default_url() -> str:
    """`STACKRANK_DATABASE_URL`, else a SQLite file in `home()`."""
    return os.environ.get("STACKRANK_DATABASE_URL") or f"sqlite:///{(home() / 'stackrank.db').absolute()}"


def connect(
    url: str | None = None,
    *,
    migrate: bool = True,
    upgrade: bool = False,
    create: bool = True,
    timeout_s: float = 30.0,
) -> Engine:
    """Open the database at `url` (default: `default_url()`).

    `timeout_s` is how many seconds a statement waits for another writer (SQLite) or a connection attempt for the
    server (PostgreSQL, at most 10). With `migrate`, an empty database gets its tables, and a schema that is behind is
    brought up to date in SQLite. In PostgreSQL others may be at work with the older program: there it is refused,
    unless `upgrade` or `STACKRANK_AUTO_MIGRATE=1` says otherwise. Without `migrate` the schema is not looked at;
    without `create` there has to be one. Raises `DatabaseError` for everything that can be wrong.
    """
    parsed = _parse(url or default_url())
    shown = masked(parsed.render_as_string())
    try:
        if not create and parsed.drivername == "sqlite" and not Path(str(parsed.database)).expanduser().exists():
            raise DatabaseError(f"The database {shown} is not there: check the name of the file.")
        engine = _sqlite(parsed, timeout_s) if parsed.drivername == "sqlite" else _postgres(parsed, timeout_s)
        with engine.connect() as connection:
            if parsed.drivername == "sqlite":
                _use_wal(connection)
            revision = revision_of(connection) if migrate else HEAD
        if revision != HEAD:
            if revision is None and not create:
                raise DatabaseError(f"The database {shown} has no tables of ours: check its address.")
            behind = revision is not None and revision < HEAD
            if behind and parsed.drivername != "sqlite" and not upgrade and not _auto_migrate():
                raise DatabaseError(
                    f"The database {shown} has the schema {revision} and this stackrank works with {HEAD}: "
                    "end what uses it, then run `stackrank db upgrade`."
                )
            _upgrade(engine, shown)
    except (*FAILURES, OSError) as error:
        raise explain(error, shown) from error
    return engine


def _auto_migrate() -> bool:
    return os.environ.get("STACKRANK_AUTO_MIGRATE", "").lower() in {"1", "true", "yes"}


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url.strip())
    except (ArgumentError, ValueError) as error:
        raise DatabaseError(
            f"{masked(url)!r} is not a database URL: use sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME."
        ) from error
    if parsed.drivername in {"sqlite", "sqlite+pysqlite"}:
        if parsed.database in {None, "", ":memory:"} or "mode=memory" in str(parsed.database):
            raise DatabaseError(f"{masked(url)} lives in one connection's memory: use sqlite:///FILE.")
        return parsed.set(drivername="sqlite")
    if parsed.drivername in _POSTGRES:
        return parsed.set(drivername="postgresql+psycopg")
    raise DatabaseError(f"{masked(url)} has an unknown scheme: use sqlite:///FILE or postgresql://HOST/NAME.")


def _sqlite(url: URL, timeout_s: float) -> Engine:
    file = Path(str(url.database)).expanduser()
    if not str(url.database).startswith("file:"):
        file.parent.mkdir(parents=True, exist_ok=True)
        url = url.set(database=str(file))
    engine = create_engine(url, connect_args={"timeout": timeout_s}, pool_size=8, max_overflow=56)

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: Any) -> None:
        # The driver must not open transactions by itself: _begin says which kind.
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A reader that turns into a writer fails at once when another one was faster, whatever the timeout.
        write = connection.get_execution_options().get("write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


def _postgres(url: URL, timeout_s: float) -> Engine:
    arguments: dict[str, Any] = {"application_name": "stackrank"}
    if "connect_timeout" not in url.query:
        arguments["connect_timeout"] = max(1, min(10, round(timeout_s)))
    # A server that is cut off says nothing: by itself the system waits a quarter of an hour for what was sent.
    arguments |= {name: value for name, value in _TCP.items() if name not in url.query}
    engine = create_engine(url, pool_pre_ping=True, pool_size=8, max_overflow=24, connect_args=arguments)

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: Any) -> None:
        # Whoever is cut off in the middle of a transaction must not keep its locks.
        connection.execute(f"SET idle_in_transaction_session_timeout = '{_MOST_IDLE_S}s'")
        connection.commit()

    return engine


def _use_wal(connection: Connection) -> None:
    """Readers and a writer side by side; kept in the file, so asked for only once."""
    raw = connection.connection.dbapi_connection
    assert raw is not None
    connection.rollback()
    cursor = raw.cursor()
    if cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        cursor.execute("PRAGMA journal_mode = WAL")
    cursor.close()


def revision_of(connection: Connection) -> str | None:
    """The revision of the schema; None where there is none yet."""
    try:
        # In PostgreSQL a failed statement spoils the transaction, and with it the lock: hence the savepoint.
        with connection.begin_nested():
            found = connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}"))
    except DBAPIError as error:
        if "no such table" in str(error.orig) or getattr(error.orig, "sqlstate", None) == "42P01":
            return None
        raise
    return None if found is None else str(found)


def _upgrade(engine: Engine, shown: str) -> None:
    """Run the missing migrations in one transaction that nobody else can be in at the same time."""
    from alembic import command
    from alembic.script import ScriptDirectory

    config = alembic_config()
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        revision = revision_of(connection)  # Somebody else may have been faster while this one waited.
        if revision is not None and revision not in known:
            raise DatabaseError(
                f"The database {shown} has the newer schema {revision}: update stackrank or use another database."
            )
        if revision != HEAD:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


def alembic_config(url: str | None = None) -> Any:
    """Alembic's configuration, without a file: for `connect`, and for developers who write a migration."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    if url is not None:
        config.attributes["url"] = url
    return config
