"""Commands that serve, and commands that start and end services in the background."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stackrank.flows.cli.options import POOL, Json, port_option
from stackrank.flows.cli.output import print_json
from stackrank.wording import count_of, masked, print_err, print_out

if TYPE_CHECKING:
    from stackrank.db.queries.runs import RunSummary

app = typer.Typer()
Host = Annotated[str, typer.Option(help="Address to listen on.")]


@app.command()
def dashboard(port: Annotated[int, port_option("Port to listen on.")] = 8501, host: Host = "127.0.0.1") -> None:
    """Serve the dashboard until interrupted."""
    from stackrank.db.connection.engine import connect
    from stackrank.flows.services.local import become_dashboard

    connect().dispose()
    become_dashboard(port, host)


@app.command()
def up(
    port: Annotated[
        int | None, port_option("Port of the dashboard. Default: 8501, or another if that is taken.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Start the Prefect server, a worker and the dashboard in the background."""
    import os

    from stackrank.db.connection.engine import connect, default_url
    from stackrank.flows.services.local import DASHBOARD, WORKER
    from stackrank.flows.services.prefect_server import client_env, configured_server, ensure_server, login_file
    from stackrank.home import home
    from stackrank.host.programs import leave_user_folder

    leave_user_folder(home())
    connect().dispose()
    login = "" if configured_server() else f" (user and password: {login_file()})"
    DASHBOARD.check(port)
    WORKER.check()
    prefect = ensure_server(say=print_err)
    os.environ.update(client_env(prefect))
    # Prefect reads these variables once, when it is imported.
    from stackrank.flows.engine.deployments import prepare_pool

    prepare_pool(POOL)
    url = DASHBOARD.ensure(say=print_err, port=port)
    health = WORKER.ensure(say=print_err)
    database = masked(default_url())
    if as_json:
        print_json({"prefect": prefect, "dashboard": url, "worker": health, "database": database})
        return
    pages = prefect.removesuffix("/api") + login
    print_out(f"Dashboard: {url}\nPrefect:   {pages}\nWorker:    {health}\nDatabase:  {database}")


@app.command()
def down(as_json: Json = False) -> None:
    """Stop everything that runs in the background, and name the runs that are not finished."""
    from stackrank.db.connection.errors import DatabaseError
    from stackrank.flows.services.local import DASHBOARD, WORKER
    from stackrank.flows.services.prefect_server import stop_server

    services = {"worker": WORKER.stop, "dashboard": DASHBOARD.stop, "prefect server": stop_server}
    stopped = [name for name, stop in services.items() if stop()]
    try:
        unfinished = _unheld_runs() if stopped else []
    except DatabaseError as error:
        unfinished = []
        print_err(f"warning: it is unknown which runs are not finished: {error}")
    if as_json:
        print_json({"ended": stopped, "unfinished": [run["id"] for run in unfinished]})
        return
    print_out(f"stopped: {', '.join(stopped)}" if stopped else "nothing was running")
    for run in unfinished:
        ended = f"{run['done']} of {count_of(run['episodes_total'], 'episode has', 'episodes have')} a verdict"
        print_out(
            f"Run {run['id']} ({run['name']}) is not finished: {ended}. A worker (`stackrank up`) plays the rest, or "
            f"`stackrank resume {run['id']}` does."
        )


def _unheld_runs() -> list[RunSummary]:
    """Return the runs in progress of which no process that may be alive holds an episode."""
    from stackrank.db import queries
    from stackrank.db.connection.engine import connect
    from stackrank.flows.runs.operating.absence import is_held
    from stackrank.terms import RunStatus

    engine = connect()
    return [run for run in queries.runs(engine, status=RunStatus.RUNNING) if not is_held(engine, run["id"])]


@app.command()
def worker(
    pool: Annotated[str, typer.Option(help="Prefect work pool that it serves; created if missing.")] = POOL,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Concurrent runs and shards. Default: from the number of processors."),
    ] = None,
    port: Annotated[int | None, port_option("Answer /health on this port.")] = None,
    metrics_port: Annotated[int | None, port_option("Serve Prometheus metrics on this port.")] = None,
    host: Annotated[str, typer.Option(help="Address of these ports.")] = "127.0.0.1",
) -> None:
    """Play scheduled runs, and continue abandoned ones, until interrupted."""
    from stackrank.db.connection.engine import connect, default_url
    from stackrank.flows.engine.worker import serve_pool
    from stackrank.flows.services.metrics import serve
    from stackrank.flows.services.prefect_server import ensure_server
    from stackrank.host.listening import listen

    if port is not None:
        listen(host, port).close()
    engine = connect()
    if metrics_port is not None:
        serve(engine, metrics_port, host)
    url = ensure_server(say=print_err)
    print_err(f"results are written to {masked(default_url())}")
    serve_pool(pool, url=url, limit=limit, port=port, host=host, say=print_err)


@app.command()
def metrics(port: Annotated[int, port_option("Port to listen on.")] = 9464, host: Host = "127.0.0.1") -> None:
    """Serve Prometheus metrics of the database until interrupted."""
    import signal
    import threading

    from stackrank.db.connection.engine import connect, default_url
    from stackrank.flows.services.metrics import serve

    server = serve(connect(), port, host)
    print_err(f"metrics of {masked(default_url())} at http://{host}:{server.server_port}/metrics (Ctrl-C stops it)")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    stop.wait()
    server.shutdown()


@app.command()
def engine_proxy(
    listen: Annotated[
        Path, typer.Argument(help="The socket to listen on; set it as DOCKER_HOST=unix://... of a worker.")
    ],
    engine: Annotated[Path, typer.Option(help="The socket of the Docker engine.")] = Path("/var/run/docker.sock"),
) -> None:
    """Serve a Docker engine to a worker, for sandboxes only, until interrupted."""
    import asyncio

    from stackrank.env.sandbox.docker.policy import Allowed
    from stackrank.flows.services.engine_proxy import EngineProxy
    from stackrank.settings import settings

    ours = settings()
    pulls = tuple(name.strip() for name in ours.engine_pulls.split(",") if name.strip())
    folders = tuple(name for name in ours.engine_folders.split(":") if name)
    proxy = EngineProxy(engine, Allowed(ours.sandbox_runtime, pulls, folders), print_err)
    ready = f"the engine at {engine}, for sandboxes only, at {listen} (Ctrl-C stops it)"
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(proxy.serve(listen, lambda: print_err(ready)))


@app.command()
def demo_endpoint(
    script: Annotated[
        Path | None, typer.Argument(help="The answers, as YAML. Default: a built-in script of a few steps.")
    ] = None,
    port: Annotated[int, port_option("Port to listen on; 0 for any free port.")] = 8399,
    fail: Annotated[float, typer.Option(min=0, max=1, help="Share of requests that get 429 or 500.")] = 0.0,
) -> None:
    """Serve a scripted model on this machine until interrupted, to try stackrank without a key."""
    import threading

    from stackrank.agents.llm.scripted.script import Player, read_script
    from stackrank.agents.llm.scripted.server import OpenAIServer
    from stackrank.host.listening import listen

    answers = read_script(script)
    listen("127.0.0.1", port).close()
    player = Player(answers, fail)
    server = OpenAIServer(
        player,
        models=answers.models,
        port=port,
        verbatim=answers.verbatim,
        stream_only=answers.stream_only,
        refuses_null=answers.refuses_null,
    )
    with server:
        print_err(
            f"answering from {script or 'a built-in script'} at {server.url} (Ctrl-C stops it); in another terminal:"
        )
        print_err(f"  export OPENAI_BASE_URL={server.url}")
        print_err(f"  stackrank run --agent llm --model {answers.models[0]} --limit 1")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass
        finally:
            counts = ", ".join(f"{count} x {name}" for name, count in sorted(player.counts.items()))
            print_err(f"asked {server.asked} times: {counts or 'nothing'}")
