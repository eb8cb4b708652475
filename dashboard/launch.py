"""How the dashboard is started. Imports nothing of Streamlit, so that the command line stays quick."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
HEALTH = "/_stcore/health"
"""The path that answers `ok` as soon as the dashboard serves pages."""


def command(
    *, port: int = 8501, host: str = "127.0.0.1", database_url: str | None = None
) -> tuple[list[str], dict[str, str]]:
    """The command and its environment that serve the dashboard on `host`:`port`, from any folder.

    There is no login: a `host` other than loopback shows the database to everyone who can reach it. `database_url`
    None leaves the choice to `STACKRANK_DATABASE_URL`. It travels in the environment: a command line is readable by
    every user of the machine, and the URL may hold a password.
    """
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
    argv = [sys.executable, "-m", "streamlit", "run", str(HERE / "app.py")]
    argv += [f"--{name}={value}" for name, value in options.items()]
    environment = dict(os.environ)
    # Streamlit puts the folder of app.py on the path, not the one that the packages are in.
    paths = [str(HERE.parent), *filter(None, [environment.get("PYTHONPATH")])]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    if database_url is not None:
        environment["STACKRANK_DATABASE_URL"] = database_url
    return argv, environment
