"""Third-party model servers, each in an environment that deploy/setup/servers.sh creates."""

from __future__ import annotations

import fcntl
import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from stackrank.home import home
from tests.dashboard.serving import free_port
from tests.support.waiting import missing, wait_for


def server_python(name: str) -> Path:
    """The Python of a test server, when nobody is making it any more; where it is missing a skip that says the remedy,
    or CI's failure."""
    venv = home() / "test-servers" / name
    lock = venv.with_name(f"{name}.lock")
    if lock.exists():
        with lock.open() as file:
            wait_for(lambda: _is_free(file), f"{name} is still being made", timeout_s=3000, every_s=1)
    if not (venv / ".stackrank").exists():
        missing(f"the test server {name} is not installed: run deploy/setup/servers.sh {name}")
    return venv / "bin" / "python"


def _is_free(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def served(name: str, command: list[str | Path], folder: Path, ready: str, **environment: str) -> Iterator[str]:
    """Run a server until the block ends: its root URL. `{port}` in the command is the port, `ready` a path that
    answers once the server does."""
    port = free_port()
    log = folder / f"{name}.log"
    # Nothing of the machine's own settings: a key or a proxy there would be another server than the tests mean.
    inherited = {
        variable: value
        for variable, value in os.environ.items()
        if not variable.startswith(("OPENAI_", "ANTHROPIC_", "COV"))
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(argument).replace("{port}", str(port)) for argument in command],
            env={**inherited, **environment},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    root = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        assert process.poll() is None, f"{name} ended: {log.read_text(errors='replace')[-2000:]}"
        try:
            urllib.request.urlopen(root + ready, timeout=20)
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    try:
        wait_for(answers, lambda: log.read_text(errors="replace")[-2000:], timeout_s=600, every_s=0.3)
        yield root
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
