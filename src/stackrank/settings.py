"""Settings from environment variables: every `STACKRANK_...` variable, read when it is used.

`make reference` generates the page that documents them.
"""

from __future__ import annotations

import functools
import getpass
import os
import re
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from stackrank.errors import SettingsError
from stackrank.fields import wanted

PREFIX = "STACKRANK_"


class Settings(BaseSettings):
    """One field per variable. An empty variable counts as unset."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", frozen=True, use_attribute_docstrings=True
    )

    home: Path | None = None
    """The home folder, which holds results, the sandbox's Python, Prefect's data and logs. Default: the platform's
    folder for user data, such as `~/.local/share/stackrank`."""
    database_url: str | None = None
    """The database of results: `sqlite:///FILE` or `postgresql://USER:PASSWORD@HOST/NAME`. In the name of a file, `?`
    is written `%3F` and `%` is `%25`. Default: `stackrank.db` in the home folder."""
    auto_migrate: bool = False
    """Whether a PostgreSQL database with an older schema is upgraded automatically. SQLite always is."""
    owner: str | None = None
    """The owner of new runs and notes. Default: the name of the system's user."""
    project: str = ""
    """The project of new runs, if a team has several."""
    log: Literal["text", "json"] | None = None
    """Log each event of a run or an episode to standard error, as text for people or as JSON for programs. Default:
    only warnings."""
    silent_s: float = Field(default=20.0, gt=0)
    """Seconds without a heartbeat after which a worker counts as dead, and others may take over its episodes. All
    machines that share a database need the same value."""
    host_workers: int = Field(default=10_000, ge=1)
    """Most concurrent episodes on this machine, over all processes."""
    host_memory_mb: int | None = Field(default=None, ge=1)
    """Most memory in megabytes for all sandboxes on this machine together, counted by their limits. Default: all of the
    machine's memory."""
    sandbox_image: str = "stackrank-sandbox:latest"
    """The Docker image for tasks that do not name one."""
    toolchain_image: str = "stackrank-toolchain-{}:latest"
    """The Docker image for tasks in other languages than Python that do not name one; `{}` stands for the language."""
    sandbox_runtime: str | None = None
    """The OCI runtime of Docker sandboxes, such as gVisor's `runsc`. Default: the engine's own."""
    sandbox_programs: str = ""
    """Programs of this machine that `bubblewrap` sandboxes have beside the usual ones, separated by spaces."""
    engine_pulls: str = ""
    """Prefixes of image names (`swebench/`), separated by commas. `stackrank engine-proxy` lets workers pull these
    images. Default: none."""
    engine_folders: str = ""
    """Folders on the engine's machine, such as a package index for pip, separated by colons. `stackrank engine-proxy`
    lets environment builds read them. Default: none."""
    allow_local: bool = False
    """Whether `sandbox: local`, which isolates nothing, is allowed on this machine. A specification cannot allow it."""
    guarded: bool = False
    """Whether this process plays other people's specifications. These may name only the files, variables and hosts that
    the next three variables allow. Default: on in `stackrank worker`, unless it serves the local Prefect server, which
    only its user can reach; otherwise off. Set to 0, it is off in every worker."""
    allowed_paths: str = ""
    """Files and folders that other people's specifications may name, separated by colons. Default: none."""
    allowed_variables: str = ""
    """Environment variables that other people's specifications may name (`api_key_env`, `$NAME`), separated by commas.
    `OPENAI_API_KEY` and `AZURE_OPENAI_API_KEY` are always allowed."""
    allowed_hosts: str = ""
    """Hosts, as `NAME` or `NAME:PORT`, that other people's specifications may name (`base_url`, `webhook`), separated
    by commas. Those in `OPENAI_BASE_URL`, `AZURE_OPENAI_ENDPOINT` and `STACKRANK_WEBHOOK` are always allowed, as is
    api.openai.com."""
    decision_key: str = ""
    """The key that seals decisions about proposed fixes. People who share a database but decide on several machines
    need the same key. Default: a random key in the home folder."""
    forge_token: str = ""
    """The token for the forge: `stackrank review --pull-request` opens pull requests with it, and `stackrank fix
    --issues-of` sends it along."""
    mcp_token: str = ""
    """The token that every request to `stackrank mcp --http` must send. Default: a new one each time, which is
    printed."""
    prices: Path | None = None
    """A TOML file with prices of models. They override the built-in prices."""
    webhook: str = ""
    """The incoming webhook (Slack, Mattermost or similar) to which a message is posted when a leaderboard gets worse. A
    specification can name a different one."""
    dashboard_url: str = ""
    """The dashboard's public address, for links in artifacts and messages."""
    secrets: Path | None = None
    """Streamlit's secrets file for the dashboard. Its section `[auth]` enables the login."""
    allowed_users: str = ""
    """Who may log in to the dashboard: email addresses, domains such as `@example.org`, or `*` for everybody with an
    account, separated by commas or spaces."""
    operators: str = ""
    """Who may pause, change, retry and cancel runs on the dashboard, in the form of `STACKRANK_ALLOWED_USERS`. Empty:
    nobody if the dashboard has a login or listens for other machines, else everybody."""
    trust_emails: bool = False
    """Whether an account may log in whose provider sends no claim `email_verified`. Only for a provider that gives out
    addresses itself, such as an organisation's own directory; an address that it calls unverified stays refused."""
    dashboard_open: bool = False
    """Whether a dashboard without a login may listen for other machines, because a proxy in front of it authenticates
    users."""

    @property
    def beat_s(self) -> float:
        """Seconds between the heartbeats of a worker."""
        return self.silent_s / 10

    @property
    def run_silent_s(self) -> float:
        """Seconds without a heartbeat after which a run counts as abandoned.

        The time of the last heartbeat comes from another machine's clock, which may differ from this one: hence the
        slack.
        """
        return 3 * self.silent_s


def settings() -> Settings:
    """The current settings. Raises SettingsError."""
    return _read(tuple(item for item in os.environ.items() if item[0].upper().startswith(PREFIX)))


@functools.lru_cache(maxsize=16)
def _read(_variables: tuple[tuple[str, str], ...]) -> Settings:
    """Read the settings, with a cache keyed by the variables: reading takes a millisecond, too long for loops."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        expected = wanted(Settings.model_fields[name])
        raise SettingsError(
            f"{variable(name)} is {first['input']!r}: set it to {_article(expected)}, or unset it"
        ) from None


def variable(name: str) -> str:
    """Return the name of a field's environment variable."""
    return PREFIX + name.upper()


def absolute_variables() -> dict[str, str]:
    """Return the variables that name places on this machine relative to the current folder, with absolute paths.

    Raises SettingsError.
    """
    current = settings()
    changed = {
        variable(name): _absolute(place)
        for name in Settings.model_fields
        if isinstance(place := getattr(current, name), Path)
    }
    if current.allowed_paths:
        folders = filter(None, current.allowed_paths.split(os.pathsep))
        changed[variable("allowed_paths")] = os.pathsep.join(map(_absolute, folders))
    scheme, _, rest = (current.database_url or "").partition(":///")
    database, question, options = rest.partition("?")
    if scheme.startswith("sqlite") and database and not database.startswith((":", "file:")):
        changed[variable("database_url")] = f"{sqlite_url(_absolute(unquote(database)))}{question}{options}"
    return changed


def sqlite_url(file: Path | str) -> str:
    """Return the address of a SQLite file. Characters that mean something in an address are escaped, as `%3F` for `?`;
    `db.connection` reads them. No other code makes such an address.
    """
    return "sqlite:///" + re.sub(r"[%?#\x00-\x1f\x7f]", lambda match: quote(match[0]), str(file))


def _absolute(place: Path | str) -> str:
    return str(Path(place).expanduser().absolute())


def default_owner() -> str:
    """The owner of a run or a note by default; empty if the system has no name for its user."""
    try:
        return settings().owner or getpass.getuser()
    except (KeyError, OSError):
        return ""


def _article(phrase: str) -> str:
    return f"a {phrase}" if phrase.startswith(("whole", "number", "path")) else phrase
