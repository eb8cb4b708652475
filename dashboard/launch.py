"""The command that starts the dashboard. Imports nothing from Streamlit, so that the command line stays fast."""

from __future__ import annotations

import tomllib
from pathlib import Path

from stackrank.errors import UsageError
from stackrank.extras import require
from stackrank.host import programs
from stackrank.host.listening import is_loopback
from stackrank.settings import settings

HERE = Path(__file__).parent
HEALTH = "/_stcore/health"
"""The path that answers `ok` as soon as the dashboard serves pages."""


def login_configured() -> bool:
    """Whether there is a secrets file with a section [auth].

    Raises `UsageError` if `STACKRANK_SECRETS` names a file that cannot be read or has no such section: a user who
    names a file wants a login, and must not get an open dashboard because of a typo.
    """
    secrets_path = settings().secrets
    # Streamlit also looks into the current folder, which is not the user's.
    file = secrets_path.expanduser() if secrets_path else Path.home() / ".streamlit" / "secrets.toml"
    if secrets_path and secrets_path.suffix != ".toml":
        raise UsageError(f"Streamlit reads secrets from files that end with .toml, not from {secrets_path}: rename it.")
    if not secrets_path and not file.exists():
        return False
    try:
        if "auth" in tomllib.loads(file.read_text(encoding="utf-8")):
            require("authlib", extra="login", feature="the dashboard's login")
            return True
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"The secrets file {file} cannot be read ({error}): fix it or change STACKRANK_SECRETS."
        raise UsageError(message) from None
    if secrets_path:
        raise UsageError(f"The secrets file {secrets_path} has no section [auth]: add it, or unset STACKRANK_SECRETS.")
    return False


def command(
    *, port: int = 8501, host: str = "127.0.0.1", database_url: str | None = None
) -> tuple[list[str], dict[str, str]]:
    """Return the command and its environment that serve the dashboard on `host`:`port`, from any folder.

    `STACKRANK_SECRETS` names Streamlit's secrets file (secrets.toml); its section [auth] turns the login on. Without a
    login, a `host` other than loopback would show the database to everyone who can reach it. This raises `UsageError`,
    unless `STACKRANK_DASHBOARD_OPEN` says that something else in front of the dashboard keeps strangers out.

    If `database_url` is None, `STACKRANK_DATABASE_URL` applies. The URL is passed in the environment, because every
    user of the machine can read a command line, and the URL may contain a password.
    """
    login = login_configured()
    if not is_loopback(host) and not login and not settings().dashboard_open:
        raise UsageError(
            f"Without a login the dashboard listens on this machine only, not on {host}: name a secrets file with "
            f"an [auth] section in STACKRANK_SECRETS, or set STACKRANK_DASHBOARD_OPEN=1 where something in front of it "
            "keeps strangers out."
        )
    options = {
        "server.headless": "true",
        "server.address": host,
        "server.port": str(port),
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
        # A bare value in a page must not be rendered as Markdown.
        "runner.magicEnabled": "false",
        "client.toolbarMode": "minimal",
        "client.showErrorDetails": "none",
        "theme.base": str(HERE / "theme.toml"),
    }
    if secrets := settings().secrets:
        options["secrets.files"] = str(secrets.expanduser().absolute())
    argv = programs.python("-m", "streamlit", "run", str(HERE / "asgi.py"))
    argv += [f"--{name}={value}" for name, value in options.items()]
    overrides = {} if database_url is None else {"STACKRANK_DATABASE_URL": database_url}
    return argv, programs.environment(overrides)
