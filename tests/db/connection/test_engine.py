"""Connecting: what can be wrong first, then migrations."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text
from sqlmodel import SQLModel

from stackrank.db.connection.engine import HEAD, VERSION_TABLE, alembic_config, connect, default_url
from stackrank.db.connection.errors import DatabaseError
from stackrank.db.connection.partitions import is_table
from stackrank.wording import masked
from tests.postgres import Cluster


def refusal(url: str, **options: float) -> str:
    with pytest.raises(DatabaseError) as caught:
        connect(url, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert message.endswith(".") and "\n" not in message
    assert message.count(": ") >= 1, f"no remedy in {message!r}"
    return message


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("nonsense", "not a database URL"),
        ("", "not a database URL"),
        ("mysql://ada:pw-0@host/db", "unknown scheme"),
        ("sqlite://", "memory"),
        ("sqlite:///:memory:", "memory"),
        ("postgresql://ada:pw-0@127.0.0.1:1/db", "cannot be reached"),
        ("postgres://ada@127.0.0.1:1/db?password=pw-0", "cannot be reached"),
        ("postgresql://ada:pw-0@no.such.host.invalid/db", "cannot be reached"),
    ],
)
def test_invalid_urls_are_refused(url: str, part: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if not url:
        url = " "
    message = refusal(url)
    assert part in message
    assert "pw-0" not in message


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://ada:p@ss/w:rd@host/db", "postgresql://ada:***@host/db"),
        ("postgresql://host/db?user=a&password=x&sslmode=off", "postgresql://host/db?user=a&password=***&sslmode=off"),
        ("postgresql://ada@host/db", "postgresql://ada@host/db"),
        ("sqlite:///a/b@c.db", "sqlite:///a/b@c.db"),
    ],
)
def test_passwords_are_masked(url: str, expected: str) -> None:
    assert masked(url) == expected


def test_a_file_that_is_not_a_database_is_left_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database\n" * 300)
    message = refusal(f"sqlite:///{file}")
    assert "is not a database" in message and str(file) in message
    assert file.read_text().startswith("not a database")


def test_folders_and_files_in_the_way_are_reported(tmp_path: Path) -> None:
    assert "cannot be opened" in refusal(f"sqlite:///{tmp_path}")
    (tmp_path / "file").touch()
    assert "cannot be opened" in refusal(f"sqlite:///{tmp_path / 'file' / 'x.db'}")


@pytest.mark.skipif(os.geteuid() != 0, reason="changing the user needs root")
def test_a_read_only_folder_is_reported(tmp_path_factory: pytest.TempPathFactory) -> None:
    # Root may write anywhere, so the attempt is made as nobody, in a child that has everything imported already.
    folder = tmp_path_factory.mktemp("closed")
    program = (
        "import os, sys, sqlite3, stackrank.db.connection.engine, alembic.command; os.setuid(65534)\n"
        "try: stackrank.db.connection.engine.connect(sys.argv[1])\n"
        "except stackrank.db.connection.engine.DatabaseError as error: print(error); sys.exit(3)\n"
    )
    command = [sys.executable, "-c", program, f"sqlite:///{folder / 'deep' / 'x.db'}"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert process.returncode == 3, process.stderr
    assert "cannot be opened for writing" in process.stdout and "STACKRANK_DATABASE_URL" in process.stdout


def test_a_locked_database_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    with sqlite3.connect(file, isolation_level=None) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert "is locked" in refusal(f"sqlite:///{file}", timeout_s=0.2)
        connection.execute("ROLLBACK")
    connect(f"sqlite:///{file}").dispose()


def test_wrong_password_missing_database_missing_role(postgres: Cluster) -> None:
    message = refusal(postgres.url("postgres", password="pw-0"))
    assert "refused the login" in message and "pw-0" not in message
    assert "is missing" in refusal(postgres.url("nowhere"))


def test_a_read_only_role_can_read(postgres: Cluster) -> None:
    url = postgres.create("migrated")
    name = url.split("/")[3].split("?")[0]
    postgres.execute("DROP ROLE IF EXISTS reader")
    postgres.execute("CREATE ROLE reader LOGIN PASSWORD 's3cret'")
    reader = url.replace("//stackrank:", "//reader:")
    assert "refused the statement" in refusal(reader)
    postgres.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader", name)
    opened = connect(reader)
    with opened.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM run")) == 0
    opened.dispose()
    assert "refused the statement" in refusal(postgres.create().replace("//stackrank:", "//reader:"))


def test_a_newer_schema_is_refused(empty_url: str) -> None:
    opened = connect(empty_url)
    with opened.begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    opened.dispose()
    assert "newer schema 9999" in refusal(empty_url)


def test_models_and_migrations_agree(empty_url: str) -> None:
    opened = connect(empty_url)
    with opened.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": VERSION_TABLE, "include_name": is_table}
        )
        assert compare_metadata(context, SQLModel.metadata) == []
    opened.dispose()


def test_head_is_the_newest_migration() -> None:
    assert ScriptDirectory.from_config(alembic_config()).get_heads() == [HEAD]


def test_a_current_schema_needs_no_alembic(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    connect(url).dispose()
    program = (
        "import sys; from stackrank.db.connection.engine import connect; connect(sys.argv[1]); "
        "print('alembic' in sys.modules)"
    )
    # From another folder: nothing may depend on the current one.
    process = subprocess.run(
        [sys.executable, "-c", program, url], capture_output=True, text=True, cwd=tmp_path, timeout=600
    )
    assert process.stdout.strip() == "False", process.stderr


def test_several_processes_start_on_an_empty_database(empty_url: str) -> None:
    barrier = threading.Barrier(8)

    def start(_: int) -> None:
        barrier.wait()
        connect(empty_url).dispose()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(start, range(8)))
    opened = connect(empty_url)
    with opened.connect() as connection:
        assert connection.scalar(text(f"SELECT count(*) FROM {VERSION_TABLE}")) == 1
    opened.dispose()


def test_a_failed_migration_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE step (something text)")  # another program's table is in the way
    connection.close()
    assert "already exists" in refusal(f"sqlite:///{file}")
    with sqlite3.connect(file) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    assert names == {"step"}


def test_sqlite_is_set_up_for_many_writers(tmp_path: Path) -> None:
    opened = connect(f"sqlite:///{tmp_path / 'x.db'}", timeout_s=12)
    with opened.connect() as connection:
        pragmas = {
            name: connection.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "busy_timeout", "foreign_keys", "synchronous")
        }
    assert pragmas == {"journal_mode": "wal", "busy_timeout": 12_000, "foreign_keys": 1, "synchronous": 1}
    opened.dispose()


def test_default_url(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("STACKRANK_DATABASE_URL", raising=False)
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "home"))
    assert default_url() == f"sqlite:///{tmp_path}/home/stackrank.db"
    connect().dispose()
    assert (tmp_path / "home" / "stackrank.db").exists()
    monkeypatch.delenv("STACKRANK_HOME")
    assert default_url().endswith("stackrank/stackrank.db")
    monkeypatch.setenv("STACKRANK_DATABASE_URL", "postgresql://host/name")
    assert default_url() == "postgresql://host/name"
