"""Commands that serve: dashboard, worker, up, down. The dashboard is another program: nothing of it is imported."""

from __future__ import annotations

import os
import platform
import runpy
import signal
import socket
import sys
import threading
from pathlib import Path

from db.engine import connect, default_url
from db.errors import masked
from flows.background import ServerError, Service
from flows.output import print_json, say
from flows.server import client_env, ensure_server, server_status, stop_server

_ROOT = Path(__file__).parents[2]


def _command(port: int, host: str = "127.0.0.1") -> list[str]:
    return [sys.executable, "-m", "dashboard", "--port", str(port), "--host", host]


def _env(_port: int) -> dict[str, str]:
    # Also where the packages are found only because the command line was called from their folder.
    paths = [str(_ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "STACKRANK_DATABASE_URL": default_url()}


DASHBOARD = Service(
    name="dashboard",
    title="dashboard",
    word="streamlit",
    patience="some seconds",
    path="/",
    health="/_stcore/health",
    command=_command,
    env=_env,
)


def _worker_command(port: int) -> list[str]:
    return [sys.executable, "-m", "flows.cli", "worker", "--port", str(port)]


WORKER = Service(
    name="worker",
    title="worker",
    word="worker",
    patience="about 10 s",
    path="/health",
    health="/health",
    command=_worker_command,
    env=_env,
)


def worker(pool: str, limit: int | None, port: int | None, metrics_port: int | None, host: str) -> None:
    """Play what is scheduled on a work pool, in this process, until it is interrupted. Raises ServerError."""
    engine = connect()
    if metrics_port is not None:
        from flows.metrics import serve

        serve(engine, metrics_port, host)
    os.environ.update({**_env(0), **client_env(ensure_server(say=say))})
    if port is not None:
        os.environ |= {"PREFECT_WORKER_WEBSERVER_HOST": host, "PREFECT_WORKER_WEBSERVER_PORT": str(port)}
    # Imports Prefect, which reads these variables then, once.
    from flows.deployments import make_pool

    # A pool that is there keeps its kind: a worker of Docker or Kubernetes serves it where that package is installed.
    make_pool(pool)
    name = f"{platform.node()}-{port or os.getpid()}"
    command = ["prefect", "worker", "start", "--pool", pool, "--name", name, "--install-policy", "never"]
    if limit:
        command += ["--limit", str(limit)]
    if port is not None:
        command.append("--with-healthcheck")
    say(f"worker {name} takes runs from the pool {pool} and writes to {masked(default_url())} (Ctrl-C ends it)")
    # In this process, so that signals reach it and the metrics go on.
    sys.argv = command
    runpy.run_module("prefect", run_name="__main__", alter_sys=True)


def metrics(port: int, host: str) -> None:
    """Serve Prometheus metrics until it is interrupted. Raises ServerError."""
    from flows.metrics import serve

    server = serve(connect(), port, host)
    say(f"metrics of {masked(default_url())} at http://{host}:{server.server_port}/metrics (Ctrl-C ends it)")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    stop.wait()
    server.shutdown()


def dashboard(port: int, host: str) -> None:
    """Serve the dashboard in this process until it is interrupted. Raises ServerError."""
    connect().dispose()
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ServerError(
                f"The dashboard cannot listen on {host}:{port} ({error.strerror}): choose another --port."
            ) from None
    os.execve(sys.executable, _command(port, host), _env(port))


def up(port: int, as_json: bool) -> None:
    """Start what a team on one machine needs, in the background."""
    connect().dispose()
    prefect = ensure_server(say=say)
    url = DASHBOARD.ensure(say=say, port=port)
    health = WORKER.ensure(say=say)
    if as_json:
        print_json({"prefect": prefect, "dashboard": url, "worker": health, "database": masked(default_url())})
        return
    print(f"Dashboard: {url}\nPrefect:   {prefect.removesuffix('/api')}\nWorker:    {health}")
    print(f"Database:  {masked(default_url())}")


def down(as_json: bool) -> None:
    """End what runs in the background."""
    ended = []
    if WORKER.stop():
        ended.append("worker")
    if DASHBOARD.stop():
        ended.append("dashboard")
    if server_status() is not None and stop_server():
        ended.append("prefect server")
    if as_json:
        print_json({"ended": ended})
    else:
        print(f"ended: {', '.join(ended)}" if ended else "nothing of ours was running")
