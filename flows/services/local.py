"""The dashboard and the worker of this machine as services. The dashboard is a program of its own, never imported."""

from __future__ import annotations

from stackrank.db.connection.engine import default_url
from stackrank.flows.services.background import Service
from stackrank.host import programs
from stackrank.host.listening import listen
from stackrank.wording import masked


def dashboard_command(port: int, host: str = "127.0.0.1") -> list[str]:
    """Return the command that serves the dashboard."""
    return programs.python("-m", "stackrank.dashboard", "--port", str(port), "--host", host)


def service_env(_port: int = 0) -> dict[str, str]:
    """Return this process's environment, with the database that it uses."""
    return programs.environment({"STACKRANK_DATABASE_URL": default_url()})


def _database() -> str:
    return masked(default_url())


DASHBOARD = Service(
    name="dashboard",
    title="dashboard",
    word="streamlit",
    patience="some seconds",
    path="/",
    health="/_stcore/health",
    command=dashboard_command,
    env=service_env,
    port=8501,
    database=_database,
)
WORKER = Service(
    name="worker",
    title="worker",
    word="worker",
    patience="about 10 s",
    path="/health",
    health="/health",
    command=lambda port: programs.python("-m", "stackrank.flows.cli.main", "worker", "--port", str(port)),
    env=service_env,
    database=_database,
)


def become_dashboard(port: int, host: str) -> None:
    """Replace this process by the dashboard. Raises UsageError if it cannot listen."""
    listen(host, port).close()
    programs.become(dashboard_command(port, host), env=service_env())
