"""Servers shared by all processes of a session. The first user starts one, and the session stops it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from tests.support.session import MARK


def shared_folder() -> Path:
    """A folder of the session, the same in all its processes. The guard removes it."""
    folder = Path(tempfile.gettempdir(), f"stackrank-shared-{os.environ[MARK][:8]}-")
    folder.mkdir(exist_ok=True)
    return folder


def share(name: str, start: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the description of the server of that name, starting the server if it does not run yet.

    `start` returns the description, with the server's `pid` and the number of the `signal` that ends it.
    """
    folder = shared_folder()
    description = folder / f"{name}.server.json"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not description.exists():
            text = json.dumps(start())
            description.write_text(text)
    server: dict[str, Any] = json.loads(description.read_text())
    return server


def end_servers() -> None:
    """End every shared server of this session."""
    for description in shared_folder().glob("*.server.json"):
        server = json.loads(description.read_text())
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            os.kill(server["pid"], signal.Signals(server["signal"]))
