"""A private PostgreSQL for tests: its own cluster, reached through a socket in a temporary folder."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.support.session import server_folder
from tests.support.waiting import missing

PASSWORD = "s3cret"


class Cluster:
    """A running server and the means to make databases on it."""

    def __init__(self, folder: Path, control: tuple[object, ...] = ()) -> None:
        """`control`: pg_ctl with the cluster it is for."""
        self.folder = folder
        self._control = control
        self._numbers = itertools.count()

    def kill(self) -> None:
        """Stop it as a crash does, without notifying clients."""
        _run(*self._control, "-m", "immediate", "-w", "stop")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-k {self.folder} -c listen_addresses= -c fsync=off -c full_page_writes=off -c max_connections=300"
        # The server must not inherit the pipes of this process.
        _run(*self._control, "-l", self.folder / "log", "-o", options, "-w", "start")

    def url(self, database: str, password: str = PASSWORD) -> str:
        """The address of a database as users write it."""
        return f"postgresql://stackrank:{password}@/{database}?host={self.folder}"

    def create(self, template: str = "template0") -> str:
        """Make a database and return its address."""
        name = f"test_{os.getpid()}_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)

    def execute(self, statement: str, database: str = "postgres") -> None:
        """Run one statement as the owner of everything."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement)


def _binaries() -> Path | None:
    """The folder of initdb and pg_ctl; Debian keeps them off the path."""
    if initdb := shutil.which("initdb"):
        return Path(initdb).parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return folders[-1].parent if folders else None


def _run(*command: object) -> None:
    """Run a program of PostgreSQL's, which refuses to work for root."""
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    completed = subprocess.run(
        [*user, *map(str, command)], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/", timeout=600
    )
    if completed.returncode:
        raise RuntimeError(f"{command[0]} failed: {completed.stderr or completed.stdout}")


def start_cluster(user: str = "stackrank") -> Cluster:
    """Start a server in a folder of its own. `user`: its superuser.

    Skips the test where PostgreSQL is missing, but not in CI.
    """
    programs = _binaries()
    if programs is None:
        missing("PostgreSQL is not installed (apt-get install postgresql)")
    folder = server_folder("pg")
    secret = folder / "password"
    secret.write_text(PASSWORD)
    if os.geteuid() == 0:
        for path in (folder, secret):
            shutil.chown(path, "postgres", "postgres")
    data = folder / "data"
    _run(
        *(programs / "initdb", "-D", data, "-U", user, "--auth=scram-sha-256", f"--pwfile={secret}"),
        *("--no-sync", "--encoding=UTF8", "--locale=C"),
    )
    running = Cluster(folder, (programs / "pg_ctl", "-D", data))
    running.start()
    return running


@contextmanager
def cluster(user: str = "stackrank") -> Iterator[Cluster]:
    """Start a server as `start_cluster` does, and end it afterwards."""
    running = start_cluster(user)
    try:
        yield running
    finally:
        running.kill()
        shutil.rmtree(running.folder, ignore_errors=True)
