"""Services of this machine that outlive the command that started them: started once, found again, ended on demand."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from stackrank.errors import InfrastructureError, UsageError
from stackrank.home import home, locked, write_whole
from stackrank.host import programs
from stackrank.host.disk import is_full, naming
from stackrank.host.listening import listen

START_TIMEOUT_S = 180.0
"""A cold start of Prefect on a busy two-core machine takes up to a minute; after three times that it has failed."""
STOP_TIMEOUT_S = 10.0
_HEALTH_TIMEOUT_S = 5.0
_PROGRESS_EVERY_S = 15.0
_LOG_LIMIT_BYTES = 5_000_000


_started: list[programs.Process[bytes]] = []
"""The services that this process started. Python warns of a program that is forgotten while it runs."""


class ServerError(InfrastructureError):
    """A service is not available; the message is one sentence that says what to do."""


class _PortTaken(ServerError):
    """Another program took the port after it was chosen and before the service started."""


@dataclass(frozen=True, slots=True)
class _State:
    """What the state file says about the process that was started last."""

    pid: int
    port: int
    url: str
    started: float
    """When the process started, seconds since the epoch: the process id alone may belong to another process by now."""
    word: str
    """A word of its command line, to recognize the process if the clock has been set since."""
    database: str = ""
    """The address of the database that it was started with, for people."""

    def process(self) -> psutil.Process | None:
        """Return the process if it still runs."""
        try:
            process = psutil.Process(self.pid)
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            # Start times are computed from the clock, which may have been set since; then the command line decides.
            if abs(process.create_time() - self.started) > 2:
                command = process.cmdline()
                if self.word not in command or not any(str(self.port) in part for part in command):
                    return None
        except psutil.Error:
            return None
        return process


@dataclass(frozen=True)
class Service:
    """A program that listens on a port of the loopback address."""

    name: str
    """Names its files in stackrank's home: NAME.json and NAME.log."""
    title: str
    """Its name in messages."""
    word: str
    """A word of its command line."""
    patience: str
    """How long a start takes, as the message says it."""
    path: str
    """The path of its URL."""
    health: str
    """The path that answers 200 when the service is ready."""
    command: Callable[[int], list[str]]
    """The command that serves on a port."""
    env: Callable[[int], dict[str, str]]
    """The environment of that command."""
    port: int | None = None
    """Where it listens at first, if that port is free."""
    database: Callable[[], str] = str
    """The address of the database that it uses, for people; empty if it uses none."""

    def ensure(self, *, say: Callable[[str], None], port: int | None = None) -> str:
        """Return the URL of the service, and start it if it does not run. `port`: the preferred port.

        `say` gets a line whenever there is something to wait for. Safe to call from several processes at once: only one
        service is started. Raises ServerError; UsageError if it runs on another port, or with another database.
        """
        state = self._read_state()
        if state and (process := state.process()) and self._serves(state, process):
            self._check_same(state, port)
            return state.url
        with self._lock(say):
            return self._find_or_start(say, port)

    def status(self) -> dict[str, Any] | None:
        """Return pid, port, url, started, log and healthy of the service, or None if it does not run."""
        state = self._read_state()
        if state is None or (process := state.process()) is None:
            return None
        return {**asdict(state), "log": str(self.log_file), "healthy": self._serves(state, process)}

    def stop(self) -> bool:
        """End the service. Returns False if it did not run."""
        with self._lock(lambda message: None):
            return self._stop()

    def started_url(self) -> str | None:
        """Return the URL at which the service was last started."""
        state = self._read_state()
        return state.url if state else None

    def check(self, port: int | None = None) -> None:
        """Raise UsageError if `ensure` would, because of the port or the database. Nothing is started."""
        state = self._read_state()
        if state and state.process():
            self._check_same(state, port)
        elif port is not None:
            listen("127.0.0.1", port).close()

    def _check_same(self, state: _State, port: int | None) -> None:
        """Raise UsageError if the service runs on another port than is asked for, or with another database."""
        if port is not None and port != state.port:
            raise UsageError(
                f"the {self.title} already runs on port {state.port}: run `stackrank down` first, or omit --port {port}"
            )
        if state.database and state.database != self.database():
            raise UsageError(
                f"the {self.title} runs with {state.database}, and not with {self.database()}: run `stackrank down` "
                "first, or set STACKRANK_DATABASE_URL to the first"
            )

    @property
    def log_file(self) -> Path:
        """Where its output goes."""
        return home() / f"{self.name}.log"

    @property
    def _state_file(self) -> Path:
        return home() / f"{self.name}.json"

    def _serves(self, state: _State, process: psutil.Process) -> bool:
        """Return whether this process answers. Two homes may remember one port: the other's service does not count."""
        return _answers(f"http://127.0.0.1:{state.port}{self.health}") and _listens(process, state.port)

    def _read_state(self) -> _State | None:
        try:
            return _State(**json.loads(self._state_file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def _write_state(self, state: _State) -> None:
        write_whole(self._state_file, json.dumps(asdict(state)))

    @contextmanager
    def _lock(self, say: Callable[[str], None]) -> Iterator[None]:
        """Hold the right to start and stop the service, against all processes with the same home."""
        busy = f"waiting for another stackrank process that starts or stops the {self.title}"
        with locked(self.name, when_busy=lambda: say(busy)):
            yield

    def _find_or_start(self, say: Callable[[str], None], port: int | None) -> str:
        """Called under the lock."""
        state = self._read_state()
        if state and (process := state.process()):
            if self._serves(state, process):
                self._check_same(state, port)
                return state.url
            # The process hangs, or a command was killed while it started the process.
            say(f"waiting for the {self.title} that is already there")
            with suppress(ServerError):
                self._wait_until_healthy(state, process, say, timeout_s=START_TIMEOUT_S / 2)
                return state.url
            self._stop()
        say(f"starting the {self.title} in the background, {self.patience} (`stackrank down` ends it)")
        if port is not None:
            listen("127.0.0.1", port).close()
        for preferred in (port or (state.port if state else self.port), None):
            with suppress(_PortTaken):
                return self._start(choose_port(preferred), say)
        return self._start(choose_port(None), say)

    def _start(self, port: int, say: Callable[[str], None]) -> str:
        process, state = self._spawn(port)
        try:
            self._wait_until_healthy(state, process, say, timeout_s=START_TIMEOUT_S)
        except BaseException:  # also on Ctrl-C: a start that was interrupted is undone
            self._stop()
            raise
        return state.url

    def _spawn(self, port: int) -> tuple[psutil.Process, _State]:
        mode = "ab" if self.log_file.exists() and self.log_file.stat().st_size < _LOG_LIMIT_BYTES else "wb"
        with naming(self.log_file), self.log_file.open(mode) as output:
            # A session of its own: the service outlives the terminal and is not interrupted with us.
            child = programs.start(
                self.command(port), env=self.env(port), folder=home(), stdout=output, stderr=programs.STDOUT
            )
        _started.append(child)
        process = psutil.Process(child.pid)
        url = f"http://127.0.0.1:{port}{self.path}"
        state = _State(process.pid, port, url, process.create_time(), self.word, self.database())
        # Written before the service answers, so that the next command finds it even if this one is killed now.
        self._write_state(state)
        return process, state

    def _wait_until_healthy(
        self, state: _State, process: psutil.Process, say: Callable[[str], None], *, timeout_s: float
    ) -> None:
        start = time.monotonic()
        next_message = start + 2 * _PROGRESS_EVERY_S
        while not self._serves(state, process):
            now_s = time.monotonic()
            if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
                if is_full(home()):
                    raise ServerError(
                        f"The {self.title} cannot start because the disk with {home()} is full: free some space, "
                        "or set STACKRANK_HOME to a folder on another disk."
                    )
                said = self._last_log_line()
                # Whoever had the port may have let go of it since.
                was_taken = os.strerror(errno.EADDRINUSE) in said or _is_taken(state.port)
                raise (_PortTaken if was_taken else ServerError)(
                    f"The {self.title} ended while it started ({said}); see {self.log_file}."
                )
            if now_s - start > timeout_s:
                raise ServerError(f"The {self.title} did not answer within {timeout_s:.0f} s; see {self.log_file}.")
            if now_s > next_message:
                say(f"still starting the {self.title}, {now_s - start:.0f} s so far")
                next_message = now_s + _PROGRESS_EVERY_S
            time.sleep(0.2)

    def _last_log_line(self) -> str:
        try:
            lines = self.log_file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return "no log"
        return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "no output")

    def _stop(self) -> bool:
        """Called under the lock. The state file stays: it remembers the port."""
        state = self._read_state()
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
        # Its child processes share its session, whose id is its process id.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        return True


def choose_port(preferred: int | None) -> int:
    """Return the preferred port if it is free, else any free one. Callers prefer the port of last time, so that
    bookmarks and workers find the service again."""
    for port in (preferred, 0):
        if port is None:
            continue
        with socket.socket() as probe, suppress(OSError):
            # The service sets this option, too: connections of its predecessor that are still closing do not count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise ServerError("No port is free on 127.0.0.1.")


def _listens(process: psutil.Process, port: int) -> bool:
    """Return whether the process, or one that it started, listens on the port."""
    with suppress(psutil.Error):
        for relative in (process, *process.children(recursive=True)):
            if any(
                connection.status == psutil.CONN_LISTEN and connection.laddr.port == port
                for connection in relative.net_connections()
            ):
                return True
    return False


def _is_taken(port: int) -> bool:
    """Return whether any process listens on the port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _answers(url: str) -> bool:
    # Without the proxies of the environment: this is a loopback address.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=_HEALTH_TIMEOUT_S) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
