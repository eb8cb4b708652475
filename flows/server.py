"""The local Prefect server: one process in the background, found again by every later command.

Why not Prefect's embedded server: every process would pay for a start of its own, and its last task records are lost
at exit. Starting the long-lived one takes about ten seconds in a fresh home and three later, several times that on a
loaded machine; finding it again takes milliseconds. While it runs it costs some 250 MB and a few hundredths of a core.

Importing `prefect` takes several seconds, so this module does not.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from env.sandbox.python_env import stackrank_home

START_TIMEOUT_S = 180.0
"""Cold start of Prefect on a busy two-core machine takes up to a minute; three times that is broken."""
STOP_TIMEOUT_S = 10.0
_HEALTH_TIMEOUT_S = 5.0
_PROGRESS_EVERY_S = 15.0
_LOG_LIMIT_BYTES = 5_000_000

_QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_LOGGING_LEVEL": "WARNING",
}


class ServerError(Exception):
    """No Prefect server can be had; the message is one sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class _State:
    """What the state file says of the server that was started last."""

    pid: int
    port: int
    url: str
    started: float
    """When the process started, seconds since the epoch: a process id alone may have been given to another by now."""

    def process(self) -> psutil.Process | None:
        """The server's process if it still runs."""
        try:
            process = psutil.Process(self.pid)
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            # Start times are worked out from the clock, which may have been set since; then the command line decides.
            if abs(process.create_time() - self.started) > 2 and not _is_server_on(process.cmdline(), self.port):
                return None
        except psutil.Error:
            return None
        return process


def _is_server_on(command: list[str], port: int) -> bool:
    return "prefect" in command and str(port) in command


def ensure_server(*, say: Callable[[str], None]) -> str:
    """Return the URL of a Prefect API that answers, starting the local server if none is configured and none runs.

    A server named by `PREFECT_API_URL`, in the environment or in the active Prefect profile, is used as it is. `say`
    gets a line whenever there is something to wait for. Safe to call from several processes at once: one server is
    started.

    Raises:
        ServerError: the configured server does not answer, or the local one does not start within `START_TIMEOUT_S`.
    """
    if configured := _configured_url(os.environ):
        _check_configured(configured)
        return configured
    state = _read_state()
    if state and state.process() and _healthy(state.url):
        return state.url
    with _lock(say):
        return _find_or_start(say)


def server_status() -> dict[str, Any] | None:
    """What is known of the local server, or None if it does not run: pid, port, url, started, home, log, healthy."""
    state = _read_state()
    if state is None or state.process() is None:
        return None
    return {**asdict(state), "home": str(_prefect_home()), "log": str(_log_file()), "healthy": _healthy(state.url)}


def stop_server() -> bool:
    """End the local server. False if none ran. A server that was configured by URL is never touched."""
    with _lock(lambda message: None):
        return _stop()


def client_env(url: str) -> dict[str, str]:
    """The variables that a process needs before it imports prefect, to talk to `url` quietly and without telemetry."""
    variables = {**_QUIET, "PREFECT_API_URL": url}
    state = _read_state()
    if state and state.url == url:
        # Keeps a profile of the user's, with its API key, away from our server; with a server of the user's, the
        # profile is what gives access to it.
        variables["PREFECT_HOME"] = str(_prefect_home())
    return variables


def _prefect_home() -> Path:
    return stackrank_home() / "prefect"


def _log_file() -> Path:
    return stackrank_home() / "prefect-server.log"


def _state_file() -> Path:
    return stackrank_home() / "prefect-server.json"


def _read_state() -> _State | None:
    try:
        return _State(**json.loads(_state_file().read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _write_state(state: _State) -> None:
    scratch = _state_file().with_suffix(".tmp")
    scratch.write_text(json.dumps(asdict(state)), encoding="utf-8")
    scratch.replace(_state_file())


@contextmanager
def _lock(say: Callable[[str], None]) -> Iterator[None]:
    """Hold the right to start and stop the server, against all processes with the same home."""
    home = stackrank_home()
    try:
        home.mkdir(parents=True, exist_ok=True)
        file = (home / "prefect-server.lock").open("w")
    except OSError as error:
        raise ServerError(f"Cannot write to {home}: set STACKRANK_HOME to a folder you own.") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another stackrank process that starts or stops the Prefect server")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _configured_url(environ: Mapping[str, str]) -> str | None:
    """The API that the user chose: `PREFECT_API_URL`, or that of the active profile, read as Prefect reads it."""
    if url := environ.get("PREFECT_API_URL"):
        return url
    home = Path(environ.get("PREFECT_HOME") or Path.home() / ".prefect")
    path = Path(environ.get("PREFECT_PROFILES_PATH") or home / "profiles.toml")
    try:
        profiles = tomllib.loads(path.expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    name = environ.get("PREFECT_PROFILE") or profiles.get("active")
    url = profiles.get("profiles", {}).get(name, {}).get("PREFECT_API_URL")
    return str(url) if url else None


def _check_configured(url: str) -> None:
    remedy = "start that server, or unset PREFECT_API_URL (or the Prefect profile that sets it) to use a local one"
    try:
        with urllib.request.urlopen(f"{url.rstrip('/')}/health", timeout=15) as answer:
            is_api = "html" not in (answer.headers.get("Content-Type") or "")
    except urllib.error.HTTPError as error:
        # It wants credentials, which prefect itself will send.
        is_api = error.code in (401, 403)
    except (OSError, ValueError) as error:
        raise ServerError(f"The Prefect server at {url} does not answer: {remedy}.") from error
    if not is_api:
        raise ServerError(f"{url} is not a Prefect API (its address usually ends in /api): {remedy}.")


def _healthy(url: str) -> bool:
    # Without the proxies of the environment: this is a loopback address.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}/health", timeout=_HEALTH_TIMEOUT_S) as answer:
            return bool(answer.read(16).strip() == b"true")
    except OSError:
        return False


def _find_or_start(say: Callable[[str], None]) -> str:
    """Called under the lock."""
    state = _read_state()
    if state and (process := state.process()):
        if _healthy(state.url):
            return state.url
        # Left by a command that was killed while it started the server, or hung.
        say("waiting for the Prefect server that is already there")
        with suppress(ServerError):
            _wait_until_healthy(state, process, say, timeout_s=START_TIMEOUT_S / 2)
            return state.url
        _stop()
    say("starting the local Prefect server in the background, about 10 s")
    process, state = _spawn(_choose_port(state.port if state else None))
    try:
        _wait_until_healthy(state, process, say, timeout_s=START_TIMEOUT_S)
    except BaseException:  # Ctrl-C too: a server that nobody waited for is not wanted
        _stop()
        raise
    return state.url


def _choose_port(preferred: int | None) -> int:
    """The port of last time if it is free, so that bookmarks and workers find the server again; else any free one."""
    for port in (preferred, 0):
        if port is None:
            continue
        with socket.socket() as probe, suppress(OSError):
            # As the server itself will: connections of its predecessor that are still closing do not count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise ServerError("No port is free on 127.0.0.1.")


def _command(port: int) -> list[str]:
    return [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]


def _server_env(environ: Mapping[str, str], port: int) -> dict[str, str]:
    """The server's environment: what the user set for servers holds, what is meant for clients does not."""
    # A server must not report to itself, nor to a test run's coverage measurement.
    dropped = ("PREFECT_API_URL", "PREFECT_API_KEY", "PREFECT_PROFILE", "COV_", "COVERAGE_")
    kept = {name: value for name, value in environ.items() if not name.startswith(dropped)}
    home = _prefect_home()
    settings = {
        # Old flow runs go after 90 days; by themselves they would stay for ever, at 21 KB a task.
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
        # The pages are written out at start; the default place is inside the installed package.
        "PREFECT_SERVER_UI_STATIC_DIRECTORY": str(home / "ui"),
    }
    fixed = {"PREFECT_HOME": str(home), "PREFECT_UI_API_URL": f"http://127.0.0.1:{port}/api"}
    return {**_QUIET, **settings, **kept, **fixed}


def _spawn(port: int) -> tuple[psutil.Popen, _State]:
    home = _prefect_home()
    home.mkdir(parents=True, exist_ok=True)
    log = _log_file()
    mode = "ab" if log.exists() and log.stat().st_size < _LOG_LIMIT_BYTES else "wb"
    with log.open(mode) as output:
        process = psutil.Popen(
            _command(port),
            env=_server_env(os.environ, port),
            # Not where the user stands: Prefect reads prefect.toml, pyproject.toml and .env from its working folder.
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # A session of its own: it outlives the terminal and is not interrupted with us.
            start_new_session=True,
        )
    state = _State(process.pid, port, f"http://127.0.0.1:{port}/api", process.create_time())
    # Before it answers, so that whoever comes next knows of it even if we are killed now.
    _write_state(state)
    return process, state


def _wait_until_healthy(
    state: _State, process: psutil.Process, say: Callable[[str], None], *, timeout_s: float
) -> None:
    start = time.monotonic()
    next_word = start + 2 * _PROGRESS_EVERY_S
    while not _healthy(state.url):
        now = time.monotonic()
        if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
            raise ServerError(f"The Prefect server ended while it started ({_last_log_line()}); see {_log_file()}.")
        if now - start > timeout_s:
            raise ServerError(f"The Prefect server did not answer within {timeout_s:.0f} s; see {_log_file()}.")
        if now > next_word:
            say(f"still starting the Prefect server, {now - start:.0f} s so far")
            next_word = now + _PROGRESS_EVERY_S
        time.sleep(0.2)


def _last_log_line() -> str:
    try:
        lines = _log_file().read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "no log"
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "no output")


def _stop() -> bool:
    """Called under the lock. The state file stays: it remembers the port."""
    state = _read_state()
    process = state.process() if state else None
    if process is None:
        return False
    with suppress(psutil.NoSuchProcess):
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT_S)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(STOP_TIMEOUT_S)
    # What it started itself shares its session, whose id is its process id.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    return True
