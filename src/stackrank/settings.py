"""What the environment says: every variable `STACKRANK_...`, read when it is used.

`make reference` writes the page that describes them.
"""

from __future__ import annotations

import functools
import getpass
import os
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from stackrank.errors import SettingsError
from stackrank.fields import wanted

PREFIX = "STACKRANK_"


class Settings(BaseSettings):
    """One field for each variable. A variable that is set to nothing counts as not set."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="ignore", frozen=True, use_attribute_docstrings=True
    )

    home: Path | None = None
    """The folder of what outlives a command: results, the sandbox Python, Prefect's data, logs. Default: the platform's
    place for user data, such as `~/.local/share/stackrank`."""
    database_url: str | None = None
    """Where results are: `sqlite:///FILE` or `postgresql://USER:PASSWORD@HOST/NAME`. Default: `stackrank.db` in the
    home folder."""
    auto_migrate: bool = False
    """Whether a PostgreSQL database with an older schema is brought up to date without asking. SQLite always is."""
    owner: str | None = None
    """Whose runs and notes they are. Default: the user of this system."""
    project: str = ""
    """The project that runs belong to, where a team has several."""
    log: Literal["text", "json"] | None = None
    """Print a line for each thing that happens to a run or an episode, on standard error: for people or for programs.
    Default: warnings only."""
    silent_s: float = Field(default=20.0, gt=0)
    """Seconds of silence after which a worker is taken for dead, and what it played is free for others. The same value
    is needed on all machines that share a database."""
    host_workers: int = Field(default=10_000, ge=1)
    """Episodes that may be played on this machine at the same time, by whatever processes."""
    host_memory_mb: int | None = Field(default=None, ge=1)
    """Megabytes to which the memory limits of the sandboxes on this machine may add up. Default: all it has."""
    sandbox_image: str = "stackrank-sandbox:latest"
    """The Docker image of sandboxes for tasks that name none."""
    sandbox_runtime: str | None = None
    """The OCI runtime of Docker sandboxes, such as gVisor's `runsc`. Default: the engine's own."""
    engine_pulls: str = ""
    """Images, by the beginnings of their names (`swebench/`), that `stackrank engine-proxy` lets a worker pull, separated by
    commas. Default: none."""
    engine_folders: str = ""
    """Folders of the engine's machine, such as an index of packages that pip is configured for, that `stackrank
    engine-proxy` lets the builds of environments read, separated by colons. Default: none."""
    allow_local: bool = False
    """Whether `sandbox: local`, which isolates nothing, may be used on this machine. No specification can say so."""
    guarded: bool = False
    """Whether the specifications that are played here are others': then they may name only the files, variables and
    hosts that the next three variables allow. `stackrank worker` sets it for what it plays, unless it serves the local
    Prefect server, which nobody but its user can reach. Set to 0, it stays off there too."""
    allowed_paths: str = ""
    """Files and folders that others' specifications may name, separated by colons. Default: none."""
    allowed_variables: str = ""
    """Variables of the environment that others' specifications may name (`api_key_env`, `$NAME`), separated by commas.
    `OPENAI_API_KEY` and `AZURE_OPENAI_API_KEY` always."""
    allowed_hosts: str = ""
    """Hosts, `NAME` or `NAME:PORT`, that others' specifications may have called (`base_url`, `webhook`), separated by
    commas. Those of `OPENAI_BASE_URL`, `AZURE_OPENAI_ENDPOINT` and `STACKRANK_WEBHOOK` always, and api.openai.com."""
    decision_key: str = ""
    """What seals the decisions about proposed fixes. People who decide in one database from several machines need the
    same one. Default: a random one in the home folder."""
    forge_token: str = ""
    """The token with which `stackrank review --pull-request` opens pull requests."""
    mcp_token: str = ""
    """What every request to `stackrank mcp --http` has to carry. Default: a new one each time, which it prints."""
    prices: Path | None = None
    """A TOML file with prices of models, which come before the built-in ones."""
    webhook: str = ""
    """Where a message is posted when a leaderboard got worse: the address of an incoming webhook of Slack, Mattermost
    or the like. A specification can choose another one."""
    dashboard_url: str = ""
    """The address at which people reach the dashboard. With it, artifacts and messages carry links."""
    secrets: Path | None = None
    """Streamlit's secrets file for the dashboard; its section `[auth]` turns the login on."""
    allowed_users: str = ""
    """Who may look at a dashboard with a login: addresses, domains such as `@example.org`, or `*` for everybody with an
    account, separated by commas or spaces."""
    dashboard_open: bool = False
    """Whether a dashboard without a login may be reached from other machines, because something in front of it keeps
    strangers out."""

    @property
    def beat_s(self) -> float:
        """How often a worker says that it lives, in seconds."""
        return self.silent_s / 10

    @property
    def run_silent_s(self) -> float:
        """Seconds of silence after which a run is taken for abandoned.

        Its last sign of life is a time of another machine's clock, which need not agree with this one: hence the
        slack.
        """
        return 3 * self.silent_s


def settings() -> Settings:
    """What the environment says now. Raises SettingsError."""
    return _read(tuple(item for item in os.environ.items() if item[0].upper().startswith(PREFIX)))


@functools.lru_cache(maxsize=16)
def _read(_variables: tuple[tuple[str, str], ...]) -> Settings:
    """Reading takes a millisecond, which is too long for loops: hence once for each state of the variables."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        what = wanted(Settings.model_fields[name])
        raise SettingsError(f"{variable(name)} is {first['input']!r}: set it to {_article(what)}, or unset it") from None


def variable(name: str) -> str:
    """The variable of a field."""
    return PREFIX + name.upper()


def default_owner() -> str:
    """Whose a run or a note is where nobody is named; empty where the system has no name for its user."""
    try:
        return settings().owner or getpass.getuser()
    except (KeyError, OSError):
        return ""


def _article(what: str) -> str:
    return f"a {what}" if what.startswith(("whole", "number", "path")) else what
