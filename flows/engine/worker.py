"""A worker: it takes runs from a work pool and plays them in this process. Prefect is imported when it starts."""

from __future__ import annotations

import atexit
import os
import platform
import runpy
import shutil
import signal
import sys
import tempfile

from stackrank.db.connection.engine import connect
from stackrank.db.writes.store import Store
from stackrank.env.sandbox.base import Say
from stackrank.flows.services.local import service_env
from stackrank.flows.services.prefect_server import client_env, is_own
from stackrank.home import home
from stackrank.host.programs import leave_user_folder
from stackrank.host.scratch import make_scratch


def default_limit() -> int:
    """Return how many runs and shards this machine takes at the same time. It leaves the rest to other machines.

    It is always more than one, because the leader of a run waits for shards, which may come to the same worker.
    """
    return max(4, (os.cpu_count() or 1) // 2)


def serve_pool(pool: str, *, url: str, limit: int | None, port: int | None, host: str, say: Say) -> None:
    """Play the scheduled runs of a work pool, and abandoned runs, until this process is interrupted.

    `url`: address of Prefect's API. `limit`: concurrent runs and shards; None means `default_limit`. `port`: the port
    that answers /health.
    """
    leave_user_folder(home())
    # Prefect makes a folder for each flow run. Those that a killed worker leaves are in here, where `gc` finds them.
    folder = make_scratch()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    tempfile.tempdir = str(folder)
    os.environ.update({**service_env(), **client_env(url), "TMPDIR": str(folder)})
    if not is_own(url):
        os.environ.setdefault("STACKRANK_GUARDED", "1")
    if port is not None:
        os.environ |= {"PREFECT_WORKER_WEBSERVER_HOST": host, "PREFECT_WORKER_WEBSERVER_PORT": str(port)}
    # Prefect reads these variables once, when it is imported.
    from stackrank.flows.engine.deployments import prepare_pool
    from stackrank.flows.engine.supervisor import Supervisor

    # An existing pool keeps its type: for Docker or Kubernetes, the package with that worker has to be installed.
    prepare_pool(pool)
    name = f"{platform.node()}-{port or os.getpid()}"
    command = ["prefect", "worker", "start", "--pool", pool, "--name", name, "--install-policy", "never"]
    command += ["--limit", str(limit or default_limit())]
    if port is not None:
        command.append("--with-healthcheck")
    Supervisor(Store(connect()), pool).start()
    say(f"worker {name} takes runs from the pool {pool}; Ctrl-C stops it")
    # Shells start background processes with SIGINT ignored, but Prefect uses SIGINT to end a worker on any signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Run it in this process, so that signals reach it and metrics are still served.
    sys.argv = command
    runpy.run_module("prefect", run_name="__main__", alter_sys=True)
