"""One real Prefect server for all tests of flows: starting one takes seconds, so they share it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Protocol

import pytest

from stackrank.flows.services import prefect_server as server
from tests.flows.calls import CommandLine
from tests.flows.desk import Desk
from tests.support.databases import Databases


@pytest.fixture(scope="session")
def prefect_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The STACKRANK_HOME of the shared server."""
    return tmp_path_factory.mktemp("prefect-home")


@contextmanager
def in_home(home: Path) -> Iterator[pytest.MonkeyPatch]:
    """Within, STACKRANK_HOME is `home`, and no setting of Prefect holds but what is set with the patch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STACKRANK_HOME", str(home))
        for name in [name for name in os.environ if name.startswith("PREFECT_")]:
            patch.delenv(name)
        patch.setenv("PREFECT_PROFILES_PATH", str(home / "none.toml"))
        yield patch


@pytest.fixture(scope="session")
def prefect_server(prefect_home: Path) -> Iterator[str]:
    """The API URL of a running local server; PREFECT_API_URL and the rest of `client_env` are set to it."""
    # Only while it is started: other tests go on with the home they have, and its sandbox environment.
    with in_home(prefect_home) as patch:
        # A run that waits for the one before it asks again after so long, not after half a minute.
        patch.setenv("PREFECT_SERVER_DEPLOYMENTS_CONCURRENCY_SLOT_WAIT_SECONDS", "2")
        # Of a schedule of every few seconds not a hundred runs ahead: SQLite has one writer.
        patch.setenv("PREFECT_SERVER_SERVICES_SCHEDULER_MAX_RUNS", "5")
        url = server.ensure_server(say=print)
        variables = server.client_env(url)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        from prefect.context import refresh_global_settings_context

        # Where an earlier test has imported prefect already, it has read its settings.
        refresh_global_settings_context()
        try:
            yield url
        finally:
            with in_home(prefect_home):
                server.stop_server()


@pytest.fixture
def database(databases: Databases, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty database that commands use, in a folder of its own."""
    url = databases.empty(tmp_path_factory.mktemp("database") / "stackrank.db")
    monkeypatch.setenv("STACKRANK_DATABASE_URL", url)
    return url


@pytest.fixture
def stackrank(database: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line with a database of its own."""
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def desk(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Proposals in a database of their own, and a home of their own."""
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "home"))
    return Desk(tmp_path, database)


class Answer(Protocol):
    """What starts a web server; `dies`: after its first answer it accepts nobody any more."""

    def __call__(self, status: int, content_type: str, body: bytes, *, dies: bool = False) -> str: ...


@pytest.fixture
def answering() -> Iterator[Answer]:
    """Start a web server that gives one answer to everything; returns its address."""
    started: list[ThreadingHTTPServer] = []

    def start(status: int, content_type: str, body: bytes, *, dies: bool = False) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.end_headers()
                self.wfile.write(body)
                if dies:
                    web.socket.close()

            def log_message(self, format: str, *args: object) -> None:
                pass

        web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        started.append(web)
        threading.Thread(target=web.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{web.server_address[1]}"

    yield start
    for web in started:
        web.shutdown()
        web.server_close()
