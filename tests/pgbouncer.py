"""A private PgBouncer for tests, in front of a private PostgreSQL: in transaction mode, with few connections."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.postgres import PASSWORD, Cluster
from tests.support.session import server_folder
from tests.support.waiting import missing, wait_for

CONNECTIONS = 3
"""To each database, however many clients there are."""
PORT = 6432
CONFIGURATION = """\
[databases]
* = host={server.folder} user=stackrank password={password}
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = {port}
auth_type = any
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 200
"""


@contextmanager
def pgbouncer(server: Cluster) -> Iterator[Path]:
    """Start one, end it afterwards; the folder of its socket.

    Skips the test where PgBouncer is missing, but not in CI.
    """
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        missing("PgBouncer is not installed (apt-get install pgbouncer)")
    folder = server_folder("pgb")
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(
        CONFIGURATION.format(server=server, folder=folder, password=PASSWORD, port=PORT, connections=CONNECTIONS)
    )
    user = []
    if os.geteuid() == 0:  # it refuses to work for root
        user = ["runuser", "-u", "postgres", "--"]
        for path in (folder, configuration):
            shutil.chown(path, "postgres", "postgres")
    with (folder / "log").open("w") as log:
        running = subprocess.Popen(
            [*user, program, str(configuration)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/"
        )
    try:

        def answers() -> bool:
            assert running.poll() is None, (folder / "log").read_text()
            try:
                psycopg.connect(url(folder, "postgres")).close()
            except psycopg.OperationalError:
                return False
            return True

        wait_for(answers, lambda: (folder / "log").read_text())
        yield folder
    finally:
        running.terminate()
        running.wait()
        shutil.rmtree(folder, ignore_errors=True)


def url(folder: Path, database: str) -> str:
    """The address of a database by way of it, as users write it."""
    return f"postgresql://stackrank:x@/{database}?host={folder}&port={PORT}"
