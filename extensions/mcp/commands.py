"""The command `mcp`, through which third-party agents play."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from stackrank.flows.cli.options import (
    DataPath,
    Environments,
    FailingTest,
    FailureState,
    Fixes,
    IncludeInvalid,
    Repos,
    Sandbox,
    port_option,
)
from stackrank.host import programs
from stackrank.wording import print_err


def mcp(
    task: Annotated[str, typer.Argument(help="Name of a task.")],
    benchmark: Annotated[str, typer.Option(help="Name of a benchmark.")] = "bugs",
    path: DataPath = None,
    fixes: Fixes = None,
    repos: Repos = None,
    environments: Environments = None,
    tools: Annotated[str, typer.Option(help="A tool set, or tools separated by commas.")] = "debug",
    sandbox: Sandbox = None,
    steps: Annotated[int | None, typer.Option(help="Most actions in the episode.")] = None,
    wall_s: Annotated[float | None, typer.Option(help="Time limit in seconds, from the first call on.")] = None,
    name: Annotated[str, typer.Option(help="Name of the agent. Default: the client's name for itself.")] = "",
    shows_failing_test: FailingTest = None,
    shows_failure_state: FailureState = None,
    include_invalid: IncludeInvalid = None,
    leaderboard: Annotated[str | None, typer.Option(help="Leaderboard to which the run belongs.")] = None,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of standard input and output.")] = False,
    port: Annotated[int, port_option("Port for --http; 0 for any free port.")] = 8380,
    host: Annotated[str, typer.Option(help="Address for --http.")] = "127.0.0.1",
) -> None:
    """Let an MCP client such as Claude Code or Codex play an episode, which is recorded and scored like any other."""
    if not http and not sys.stdin.isatty():
        programs.detach()
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.store import Store
    from stackrank.extensions.mcp.environment_server import serve_http, serve_stdio
    from stackrank.extensions.mcp.outside_run import OutsideGame
    from stackrank.settings import settings

    places = {"path": path, "fixes": fixes, "repos": repos, "environments": environments}
    overrides: dict[str, Any] = {key: str(place) for key, place in places.items() if place}
    overrides |= {
        "benchmark": benchmark,
        "sandbox": sandbox,
        "steps": steps,
        "wall_s": wall_s,
        "leaderboard": leaderboard,
    }
    overrides |= {"shows_failing_test": shows_failing_test, "shows_failure_state": shows_failure_state}
    overrides["include_invalid"] = include_invalid
    spec_fields = {key: value for key, value in overrides.items() if value is not None}
    game = OutsideGame(Store(connect()), task, tools, name, spec_fields, print_err)
    if http:
        serve_http(game, host, port, settings().mcp_token or "", print_err)
    else:
        serve_stdio(game)
    raise typer.Exit(1 if game.failed else 0)
