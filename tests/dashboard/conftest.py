from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from dashboard.launch import HEALTH, command
from db.engine import connect
from db.store import Store
from tests.dashboard.seed import Seeded, seed


def _filled(folder: Path) -> Iterator[SimpleNamespace]:
    url = f"sqlite:///{folder / 'seeded.db'}"
    opened = connect(url)
    made: Seeded = seed(opened)
    yield SimpleNamespace(url=url, store=Store(opened), made=made)
    opened.dispose()


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A filled database that tests only read: its address, its store, and what is in it."""
    yield from _filled(tmp_path_factory.mktemp("seeded"))


@pytest.fixture(scope="session")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A filled database of the served dashboard's own: what is written to it shows there."""
    yield from _filled(tmp_path_factory.mktemp("watched"))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def served(watched: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The dashboard over the filled database, started as the command line does, from some other folder."""
    port = free_port()
    argv, environment = command(port=port, database_url=watched.url)
    log = tmp_path_factory.mktemp("served") / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            argv, env=environment, cwd=log.parent, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            assert process.poll() is None, log.read_text()
            try:
                with urllib.request.urlopen(address + HEALTH, timeout=5) as answer:
                    if answer.read() == b"ok":
                        break
            except OSError:
                time.sleep(0.25)
        else:
            pytest.fail(f"the dashboard did not start: {log.read_text()}")
        yield address
    finally:
        process.terminate()
        process.wait(20)
    assert "Traceback" not in log.read_text(), log.read_text()


@pytest.fixture(scope="session")
def chromium() -> str:
    """A browser; missing, the test is skipped, but not in CI."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    if os.environ.get("CI"):
        pytest.fail("Chromium is not installed, and CI has to test with it")
    pytest.skip("Chromium is not installed (apt-get install chromium)")


@pytest.fixture
def app_file() -> Path:
    import dashboard

    return Path(dashboard.__file__).parent / "app.py"
