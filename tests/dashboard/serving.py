"""The dashboard in a process of its own, started as the command line does."""

from __future__ import annotations

import random
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from stackrank.dashboard.launch import HEALTH, command
from tests.support.waiting import wait_for


def free_port() -> int:
    """A free port of those that connections and other servers are not given: nobody takes it before it is used."""
    least = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    dice = random.SystemRandom()  # not the tests' own: they would all draw the same
    while True:
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port := dice.randrange(max(1024, least - 10_000), least)))
            return port


def wait_until_it_serves(address: str, process: subprocess.Popen[Any]) -> None:
    """Wait until the dashboard answers; its process must not end before."""

    def answers() -> bool:
        assert process.poll() is None, "the dashboard ended while it started"
        with suppress(OSError), urllib.request.urlopen(address + HEALTH, timeout=60) as answer:
            return bool(answer.read() == b"ok")
        return False

    wait_for(answers, "the dashboard", every_s=0.1)


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
        wait_until_it_serves(address, process)
        yield address
    finally:
        process.terminate()
        process.wait(600)
    assert "Traceback" not in log.read_text(), log.read_text()
