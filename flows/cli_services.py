"""Commands that serve, and commands that start and end what serves."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.cli_options import File, Json, Number
from flows.cli_schedule import POOL

app = typer.Typer()


@app.command()
def dashboard(
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8501,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Serve the dashboard until interrupted."""
    from flows.commands import services

    services.dashboard(port, host)


@app.command()
def up(port: Annotated[int, typer.Option(help="Port of the dashboard.")] = 8501, as_json: Json = False) -> None:
    """Start the Prefect server, a worker and the dashboard in the background."""
    from flows.commands import services

    services.up(port, as_json)


@app.command()
def worker(
    pool: Annotated[str, typer.Option(help="Work pool to take runs from; made if there is none.")] = POOL,
    limit: Annotated[Number, typer.Option(min=1, help="Runs at the same time.")] = None,
    port: Annotated[Number, typer.Option(help="Answer /health on this port.")] = None,
    metrics_port: Annotated[Number, typer.Option(help="Serve Prometheus metrics on this port.")] = None,
    host: Annotated[str, typer.Option(help="Address of these ports.")] = "127.0.0.1",
) -> None:
    """Play scheduled runs until interrupted."""
    from flows.commands import services

    services.worker(pool, limit, port, metrics_port, host)


@app.command()
def metrics(
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 9464,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
) -> None:
    """Serve Prometheus metrics of the database until interrupted."""
    from flows.commands import services

    services.metrics(port, host)


@app.command()
def demo_endpoint(
    script: Annotated[File, typer.Argument(help="What to answer, in YAML; a few steps where it is absent.")] = None,
    port: Annotated[int, typer.Option(help="Port to listen on; 0: any that is free.")] = 8399,
    fail: Annotated[float, typer.Option(min=0, max=1, help="Share of requests that get 429 or 500.")] = 0.0,
) -> None:
    """Serve a scripted model on this machine, for trying things out without a key, until interrupted."""
    from flows.commands import demo_endpoint as demo

    demo.serve(script, port, fail)


@app.command()
def down(as_json: Json = False) -> None:
    """End what runs in the background."""
    from flows.commands import services

    services.down(as_json)
