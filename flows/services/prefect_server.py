"""The local Prefect server: one process in the background, found again by every later command.

Prefect's embedded server is not used: every process would have to start its own, which loses its last task records at
exit. Starting the long-lived server takes about ten seconds in a fresh home and three later, several times that on a
loaded machine; finding it again takes milliseconds. While it runs it costs some 250 MB and a few hundredths of a core.

Importing `prefect` takes several seconds, so this module does not.
"""

from __future__ import annotations

import os
import secrets
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from stackrank.flows.services.background import ServerError, Service
from stackrank.home import home, locked, make_private, write_whole
from stackrank.host import programs

_QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_LOGGING_LEVEL": "WARNING",
}
_PATIENCE_S = 60
"""How long a server may take to answer: on a busy machine, far more than where it runs alone. One that is gone refuses
the connection at once."""


def ensure_server(*, say: Callable[[str], None]) -> str:
    """Return the URL of a Prefect API that answers, starting the local server if none is configured and none runs.

    A server named by `PREFECT_API_URL`, in the environment or in the active Prefect profile, is used unchanged. `say`
    gets a line whenever there is something to wait for. Safe to call from several processes at once: only one server
    is started.

    Raises:
        ServerError: the configured server does not answer, or the local one does not start.
    """
    if configured := configured_server():
        return configured
    return _service().ensure(say=say)


def configured_server() -> str | None:
    """Return the URL of the Prefect API that the user chose; None for the local server. Raises ServerError."""
    if configured := _configured_url(os.environ):
        _check_configured(configured)
    return configured


def server_status() -> dict[str, Any] | None:
    """Return pid, port, url, started, home, log and healthy of the local server, or None if it does not run."""
    status = _service().status()
    return status and {**status, "home": str(_prefect_home())}


def stop_server() -> bool:
    """End the local server. Returns False if none ran. A server that was configured by URL is never touched."""
    return _service().stop()


def explain_http_error(error: Exception) -> ServerError | None:
    """Return the error to report if a Prefect server refused a login or could not be reached; None for other errors."""
    if cause := why_unreachable(error):
        reason = " ".join(str(cause).split()) or type(cause).__name__
        return ServerError(f"The Prefect server does not answer ({reason}): run the command again when it does.")
    response: Any = getattr(error, "response", None)
    if not type(error).__module__.startswith("prefect") or getattr(response, "status_code", 0) not in (401, 403):
        return None
    return ServerError(
        f"The Prefect server at {response.url.join('/')} rejected the credentials: set PREFECT_API_AUTH_STRING (or "
        "PREFECT_API_KEY) in the environment or in the Prefect profile."
    )


def why_unreachable(error: BaseException) -> BaseException | None:
    """Return the HTTP error that kept a client from asking the server for its version; None for other errors."""
    cause = error.__cause__
    from_http = type(cause).__module__.partition(".")[0] in ("httpx", "prefect")
    return cause if isinstance(error, RuntimeError) and "Failed to reach API" in str(error) and from_http else None


def client_env(url: str) -> dict[str, str]:
    """Return the variables to set before importing prefect, to talk to `url` quietly and without telemetry."""
    variables = {**_QUIET, "PREFECT_API_URL": url}
    if is_own(url):
        # Keeps the user's profile, with its API key, away from our server; a server of the user's own needs the
        # profile for access.
        variables["PREFECT_HOME"] = str(_prefect_home())
        variables["PREFECT_API_AUTH_STRING"] = _login()
    return variables


def is_own(url: str) -> bool:
    """Return whether this is the local server, which nobody but this user can reach."""
    return _service().started_url() == url


def login_file() -> Path:
    """Return the file with `USER:PASSWORD` of the local server. Only its owner may read it."""
    return home() / "prefect-login"


def _login() -> str:
    """Return `USER:PASSWORD` of the local server, which is made up once."""
    file = login_file()
    with locked("prefect-login"):
        if not file.exists() or not file.read_text(encoding="utf-8"):
            write_whole(file, f"stackrank:{secrets.token_urlsafe(32)}")
        return file.read_text(encoding="utf-8")


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
    make_private(folder)
    return folder


def _configured_url(environ: Mapping[str, str]) -> str | None:
    """Return the API that the user chose: `PREFECT_API_URL`, or that of the active profile, read as Prefect does."""
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
        with urllib.request.urlopen(f"{url.rstrip('/')}/health", timeout=_PATIENCE_S) as answer:
            is_api = "html" not in (answer.headers.get("Content-Type") or "")
    except urllib.error.HTTPError as error:
        # The server wants credentials, which prefect itself will send.
        is_api = error.code in (401, 403)
    except (OSError, ValueError) as error:
        raise ServerError(f"The Prefect server at {url} does not answer: {remedy}.") from error
    if not is_api:
        raise ServerError(f"{url} is not a Prefect API (its address usually ends in /api): {remedy}.")


def _command(port: int) -> list[str]:
    return programs.python("-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port))


def _server_env(environ: Mapping[str, str], port: int) -> dict[str, str]:
    """Return the server's environment, with the user's settings for servers and without those for clients."""
    # A server must not report to itself, or to a test run's coverage measurement.
    clients = ("PREFECT_API_URL", "PREFECT_API_KEY", "PREFECT_API_AUTH_STRING", "PREFECT_PROFILE")
    dropped = (*clients, "COV_", "COVERAGE_")
    variables = {name: value for name, value in environ.items() if not name.startswith(dropped)}
    home = _prefect_home()
    settings = {
        # Old flow runs are deleted after 90 days; otherwise they would stay forever, at 21 KB a task.
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
        # The holders of slots are remembered over a restart; otherwise their slots would stay taken forever.
        "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
        # The pages are written out at start; the default place is inside the installed package.
        "PREFECT_SERVER_UI_STATIC_DIRECTORY": str(home / "ui"),
    }
    origin = f"http://127.0.0.1:{port}"
    fixed = {
        "PREFECT_HOME": str(home),
        "PREFECT_UI_API_URL": f"{origin}/api",
        # Anyone who can start a flow run here can run programs as this user: no other user of the machine may do so,
        # and no page in the user's browser.
        "PREFECT_SERVER_API_AUTH_STRING": _login(),
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": origin,
        "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
    }
    return {**_QUIET, **settings, **variables, **fixed, **_database_of(home)}


def _database_of(home: Path) -> dict[str, str]:
    """Return the address of Prefect's database if its home has characters that mean something in an address."""
    file = str(home / "prefect.db")
    if quote(file, safe="/ ") == file:
        return {}
    return {"PREFECT_API_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///file:{quote(file)}?uri=true"}
