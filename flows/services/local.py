"""The dashboard and the worker of this machine as services. The dashboard is a program of its own, never imported."""

from __future__ import annotations

import socket

from stackrank.db.connection.engine import default_url
from stackrank.flows.services.background import ServerError, Service
from stackrank.host import programs


def dashboard_command(port: int, host: str = "127.0.0.1") -> list[str]:
    """Return the command that serves the dashboard."""
    return programs.python("-m", "stackrank.dashboard", "--port", str(port), "--host", host)


def service_env(_port: int = 0) -> dict[str, str]:
    """Return this process's environment, with the database that it uses."""
    return programs.environment({"STACKRANK_DATABASE_URL": default_url()})


DASHBOARD = Service(
    name="dashboard",
    title="dashboard",
    word="streamlit",
    patience="some seconds",
    path="/",
    health="/_stcore/health",
    command=dashboard_command,
    env=service_env,
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
)


def become_dashboard(port: int, host: str) -> None:
    """Replace this process by the dashboard. Raises ServerError if it cannot listen."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ServerError(
                f"The dashboard cannot listen on {host}:{port} ({error.strerror}): choose another --port."
            ) from None
    programs.become(dashboard_command(port, host), env=service_env())
