"""The command line. What a command does is imported when it is called, so that `--help` is quick."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from flows.cli_benchmarks import app as benchmarks
from flows.cli_db import app as db
from flows.cli_options import (
    Decimal,
    EnvironmentsOption,
    FixesOption,
    Json,
    Number,
    PathOption,
    ReposOption,
    Strings,
    Text,
)
from flows.cli_runs import app as running
from flows.cli_schedule import app as schedule
from flows.cli_services import app as services
from flows.cli_tasks import app as making
from flows.cli_trajectories import app as trajectories

app = typer.Typer(
    name="stackrank",
    help="Run debugging agents against real bugs; see which model and which tools are better, and where each fails.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(benchmarks)
app.add_typer(running)
app.add_typer(trajectories)
app.add_typer(making)
app.add_typer(services)
app.add_typer(db, name="db")
app.add_typer(schedule, name="schedule")

_debug = False


@app.callback()
def options(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks and Prefect's log.")] = False,
) -> None:
    """Options of every command."""
    global _debug
    _debug = debug
    context.obj = {"debug": debug}


@app.command()
def run(
    spec: Annotated[Optional[Path], typer.Argument(help="A run specification in YAML; flags override it.")] = None,  # noqa: UP045
    benchmark: Annotated[Text, typer.Option(help="Name of a benchmark.")] = None,
    path: PathOption = None,
    fixes: FixesOption = None,
    repos: ReposOption = None,
    environments: EnvironmentsOption = None,
    tasks: Annotated[Text, typer.Option(help="Task names, separated by commas.")] = None,
    limit: Annotated[Number, typer.Option(help="At most so many tasks, taken evenly.")] = None,
    agent: Annotated[Strings, typer.Option(help="Agent; may be given several times.")] = None,
    model: Annotated[Strings, typer.Option(help="Model; may be given several times.")] = None,
    tools: Annotated[Strings, typer.Option(help="Tool set, or tools with commas; several times for several.")] = None,
    attempts: Annotated[Number, typer.Option(help="Episodes for each task and entrant.")] = None,
    workers: Annotated[Number, typer.Option(help="Episodes at the same time.")] = None,
    sandbox: Annotated[Text, typer.Option(help="docker, bubblewrap or local.")] = None,
    steps: Annotated[Number, typer.Option(help="Actions an episode may take.")] = None,
    pool: Annotated[Text, typer.Option(help="Split the run over the workers of this work pool.")] = None,
    budget: Annotated[Decimal, typer.Option(help="Dollars the run may cost; no episode starts afterwards.")] = None,
    name: Annotated[Text, typer.Option(help="Name of the run.")] = None,
    leaderboard: Annotated[Text, typer.Option(help="Leaderboard the run belongs to.")] = None,
    tag: Annotated[Strings, typer.Option(help="Tag; may be given several times.")] = None,
    seed: Annotated[Number, typer.Option(help="Seed for agents that choose.")] = None,
    owner: Annotated[Text, typer.Option(help="Whose run it is. Default: STACKRANK_OWNER, else you.")] = None,
    project: Annotated[Text, typer.Option(help="Project it belongs to. Default: STACKRANK_PROJECT.")] = None,
    include_invalid: Annotated[
        Optional[bool],  # noqa: UP045
        typer.Option("--include-invalid", help="Play tasks that were found invalid too."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Play a run: tasks x entrants x attempts."""
    from flows.commands.play_run import run as play

    overrides: dict[str, Any] = {
        "benchmark": benchmark, "path": _text(path), "fixes": _text(fixes),
        "repos": _text(repos), "environments": _text(environments), "tasks": tasks, "limit": limit,
        "agent": agent or [],
        "model": model or [], "tools": tools or [], "attempts": attempts, "workers": workers, "sandbox": sandbox,
        "steps": steps, "name": name, "leaderboard": leaderboard, "tags": tag, "seed": seed,
        "owner": owner, "project": project, "budget_usd": budget, "pool": pool,
        "include_invalid": include_invalid,
    }  # fmt: skip
    raise typer.Exit(play(spec, overrides, as_json, _debug))


@app.command()
def spec(as_json: Json = False) -> None:
    """Print the fields of a run specification; with --json its JSON schema."""
    from flows.commands.spec import spec as describe

    describe(as_json)


@app.command()
def runs(
    owner: Annotated[Text, typer.Option(help="Only runs of this owner.")] = None,
    project: Annotated[Text, typer.Option(help="Only runs of this project.")] = None,
    leaderboard: Annotated[Text, typer.Option(help="Only runs of this leaderboard.")] = None,
    tag: Annotated[Strings, typer.Option(help="Only runs with this tag; several have to be there all.")] = None,
    limit: Annotated[int, typer.Option(help="At most so many.")] = 50,
    as_json: Json = False,
) -> None:
    """List runs, newest first."""
    from flows.commands import look

    filters = {"owner": owner, "project": project, "leaderboard": leaderboard, "tags": tag or []}
    look.runs(filters, limit, as_json)


@app.command()
def episodes(
    run: Annotated[str, typer.Argument(help="A run's number or name, or `latest`.")] = "latest",
    verdict: Annotated[Strings, typer.Option(help="resolved, unresolved or error.")] = None,
    entrant: Annotated[Strings, typer.Option(help="Name of an entrant.")] = None,
    task: Annotated[Strings, typer.Option(help="Name of a task.")] = None,
    failure_point: Annotated[Strings, typer.Option(help="A failure point.")] = None,
    tool: Annotated[Strings, typer.Option(help="Only episodes that used this tool.")] = None,
    limit: Annotated[int, typer.Option(help="At most so many.")] = 1000,
    after: Annotated[Number, typer.Option(help="Only episodes with a higher number: the next page.")] = None,
    as_json: Json = False,
) -> None:
    """List the episodes of a run."""
    from flows.commands import look

    filters = {"verdict": verdict, "entrant": entrant, "task": task, "failure_point": failure_point, "tool": tool}
    look.episodes(run, filters, limit, after, as_json)


@app.command()
def trace(
    episode: Annotated[str, typer.Argument(help="An episode's number.")],
    first: Annotated[int, typer.Option(help="First step to show.")] = 0,
    limit: Annotated[Number, typer.Option(help="At most so many steps.")] = None,
    as_json: Json = False,
) -> None:
    """Show an episode step by step."""
    from flows.commands import look

    look.trace(episode, as_json, first, limit)


@app.command()
def leaderboard(
    run: Annotated[Text, typer.Option(help="Only this run.")] = None,
    benchmark: Annotated[Text, typer.Option(help="Only runs of this benchmark.")] = None,
    name: Annotated[Text, typer.Option(help="Only runs of this leaderboard.")] = None,
    tag: Annotated[Strings, typer.Option(help="Only runs with this tag.")] = None,
    reliability: Annotated[bool, typer.Option("--reliability", help="pass@k and all-k instead of ranks.")] = False,
    as_json: Json = False,
) -> None:
    """Rank entrants, with 95% intervals."""
    from flows.commands import look

    options = {"run": run, "benchmark": benchmark, "leaderboard": name, "tags": tag or []}
    (look.reliability if reliability else look.leaderboard)(options, as_json)


@app.command()
def compare(
    one: Annotated[str, typer.Argument(help="An entrant, as the leaderboard names it.")],
    other: Annotated[str, typer.Argument(help="Another entrant.")],
    run: Annotated[Text, typer.Option(help="Only this run.")] = None,
    benchmark: Annotated[Text, typer.Option(help="Only runs of this benchmark.")] = None,
    as_json: Json = False,
) -> None:
    """Compare two entrants on the tasks both played."""
    from flows.commands import look

    look.compare(one, other, run, benchmark, as_json)


@app.command()
def doctor(as_json: Json = False) -> None:
    """Say what is ready on this machine, and what to do about what is not."""
    from flows.commands import machine

    raise typer.Exit(machine.doctor(as_json))


@app.command()
def gc(as_json: Json = False) -> None:
    """Remove what dead workers left."""
    from flows.commands import machine

    machine.gc(as_json)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def main() -> None:
    """Entry point: known errors are one sentence and an exit status."""
    try:
        app()
    except Exception as error:
        if _debug:
            raise
        status = _status(error)
        text = " ".join(str(error).split())
        if status is None:
            print(f"error: {type(error).__name__}: {text} (a fault of ours: run again with --debug)", file=sys.stderr)
            sys.exit(1)
        print(f"error: {text}", file=sys.stderr)
        sys.exit(status)


def _status(error: Exception) -> int | None:
    """2: the call was wrong. 1: something in the infrastructure failed. None: a fault of ours."""
    from agents.base import EndpointError
    from agents.base import SetupError as AgentSetupError
    from db.errors import DatabaseError, NotFound
    from env.benchmarks.base import BenchmarkError
    from env.sandbox.base import SandboxError
    from env.sandbox.python_env import SetupError
    from flows.background import ServerError
    from flows.spec import SpecError

    if isinstance(error, SpecError | NotFound | BenchmarkError | AgentSetupError):
        return 2
    if isinstance(error, DatabaseError | EndpointError | SandboxError | ServerError | SetupError | OSError):
        return 1
    return None


if __name__ == "__main__":
    main()
