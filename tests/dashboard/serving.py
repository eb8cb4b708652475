"""The dashboard as a process of its own, as the command line starts it."""

from __future__ import annotations

import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dashboard.launch import HEALTH, command


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serve(url: str, folder: Path, *, port: int | None = None, **variables: str) -> Iterator[str]:
    """The address of the dashboard over the database at `url`. Its log in `folder` must hold no traceback."""
    port = port or free_port()
    argv, environment = command(port=port, database_url=url)
    log = folder / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            argv,
            env={**environment, **variables},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
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
            raise AssertionError(f"the dashboard did not start: {log.read_text()}")
        yield address
    finally:
        process.terminate()
        process.wait(20)
    assert "Traceback" not in log.read_text(), log.read_text()
