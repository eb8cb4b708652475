"""The local Prefect server: one process in the background, found again by every later command.

Why not Prefect's embedded server: every process would pay for a start of its own, and its last task records are lost
at exit. Starting the long-lived one takes about ten seconds in a fresh home and three later, several times that on a
loaded machine; finding it again takes milliseconds. While it runs it costs some 250 MB and a few hundredths of a core.

Importing `prefect` takes several seconds, so this module does not.
"""

from __future__ import annotations

import os
import secrets
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from stackrank.flows.services.background import ServerError, Service
from stackrank.home import home, locked

_QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_LOGGING_LEVEL": "WARNING",
}

OPEN = (
    "was started by an earlier version and lets everybody on this machine in: when no run goes on, `stackrank down` "
    "ends it, and the next command starts one with a password"
)


def ensure_server(*, say: Callable[[str], None]) -> str:
    """Return the URL of a Prefect API that answers, starting the local server if none is configured and none runs.

    A server named by `PREFECT_API_URL`, in the environment or in the active Prefect profile, is used as it is. `say`
    gets a line whenever there is something to wait for. Safe to call from several processes at once: one server is
    started.

    Raises:
        ServerError: the configured server does not answer, or the local one does not start.
    """
    if configured := configured_server():
        return configured
    url = _service().ensure(say=say)
    if lets_everybody_in(url):
        say(f"the local Prefect server {OPEN}")
    return url


def configured_server() -> str | None:
    """The URL of the Prefect API that the user chose; None: that of the local server. Raises ServerError."""
    if configured := _configured_url(os.environ):
        _check_configured(configured)
    return configured


def server_status() -> dict[str, Any] | None:
    """What is known of the local server, or None if it does not run: pid, port, url, started, home, log, healthy."""
    status = _service().status()
    return status and {**status, "home": str(_prefect_home())}


def stop_server() -> bool:
    """End the local server. False if none ran. A server that was configured by URL is never touched."""
    return _service().stop()


def meaning(error: Exception) -> ServerError | None:
    """What it means that a Prefect server refused a login, or was gone when a client began; None: it is another."""
    if cause := why_unreachable(error):
        reason = " ".join(str(cause).split()) or type(cause).__name__
        return ServerError(f"The Prefect server does not answer ({reason}): run the command again when it does.")
    response: Any = getattr(error, "response", None)
    if not type(error).__module__.startswith("prefect") or getattr(response, "status_code", 0) not in (401, 403):
        return None
    return ServerError(
        f"The Prefect server at {response.url.join('/')} does not take the login: set PREFECT_API_AUTH_STRING (or "
        "PREFECT_API_KEY) to the one that it has, in the environment or in the Prefect profile."
    )


def why_unreachable(error: BaseException) -> BaseException | None:
    """The error of HTTP behind that of a client that could not even ask the server for its version; None: another."""
    cause = error.__cause__
    from_http = type(cause).__module__.partition(".")[0] in ("httpx", "prefect")
    return cause if isinstance(error, RuntimeError) and "Failed to reach API" in str(error) and from_http else None


def client_env(url: str) -> dict[str, str]:
    """The variables that a process needs before it imports prefect, to talk to `url` quietly and without telemetry."""
    variables = {**_QUIET, "PREFECT_API_URL": url}
    if is_own(url):
        # Keeps a profile of the user's, with its API key, away from our server; with a server of the user's, the
        # profile is what gives access to it.
        variables["PREFECT_HOME"] = str(_prefect_home())
        variables["PREFECT_API_AUTH_STRING"] = _login()
    return variables


def is_own(url: str) -> bool:
    """Whether this is the local server, which nobody but this user can reach."""
    return _service().started_url() == url


def login_file() -> Path:
    """The file with `USER:PASSWORD` of the local server. Only its owner may read it."""
    return home() / "prefect-login"


def _login() -> str:
    """`USER:PASSWORD` of the local server, made up once."""
    file = login_file()
    with locked("prefect-login"):
        if not file.exists() or not file.read_text(encoding="utf-8"):
            file.unlink(missing_ok=True)
            file.touch(mode=0o600, exist_ok=False)
            file.write_text(f"stackrank:{secrets.token_urlsafe(32)}", encoding="utf-8")
        return file.read_text(encoding="utf-8")


def lets_everybody_in(url: str) -> bool:
    """Whether the local server answers somebody who gives no password."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}/admin/version", timeout=15) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _service() -> Service:
    return Service(
        name="prefect-server",
        title="local Prefect server",
        word="prefect",
        patience="about 10 s",
        path="/api",
        health="/api/health",
        command=_command,
        env=lambda port: _server_env(os.environ, port),
    )


def _prefect_home() -> Path:
    folder = home() / "prefect"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


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


def _command(port: int) -> list[str]:
    return [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]


def _server_env(environ: Mapping[str, str], port: int) -> dict[str, str]:
    """The server's environment: what the user set for servers holds, what is meant for clients does not."""
    # A server must not report to itself, nor to a test run's coverage measurement.
    clients = ("PREFECT_API_URL", "PREFECT_API_KEY", "PREFECT_API_AUTH_STRING", "PREFECT_PROFILE")
    dropped = (*clients, "COV_", "COVERAGE_")
    kept = {name: value for name, value in environ.items() if not name.startswith(dropped)}
    home = _prefect_home()
    settings = {
        # Old flow runs go after 90 days; by themselves they would stay for ever, at 21 KB a task.
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
        # Who holds a slot is remembered over a restart; else a slot that was held then would be taken for ever.
        "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
        # The pages are written out at start; the default place is inside the installed package.
        "PREFECT_SERVER_UI_STATIC_DIRECTORY": str(home / "ui"),
    }
    origin = f"http://127.0.0.1:{port}"
    fixed = {
        "PREFECT_HOME": str(home),
        "PREFECT_UI_API_URL": f"{origin}/api",
        # Whoever can start a flow run here can run programs as this user: no other user of the machine may, and no
        # page in the user's browser.
        "PREFECT_SERVER_API_AUTH_STRING": _login(),
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": origin,
        "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
    }
    return {**_QUIET, **settings, **kept, **fixed}
