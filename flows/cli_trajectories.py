"""Commands about trajectories: making them by hand, making them again, taking them elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.cli_options import EnvironmentsOption, File, FixesOption, Json, PathOption, ReposOption, Strings, Text

app = typer.Typer()
_REPORT = Path("report.html")


@app.command()
def play(
    task: Annotated[str, typer.Argument(help="Name of a task.")],
    benchmark: Annotated[str, typer.Option(help="Name of a benchmark.")] = "bugs",
    path: PathOption = None,
    fixes: FixesOption = None,
    repos: ReposOption = None,
    environments: EnvironmentsOption = None,
    tools: Annotated[str, typer.Option(help="Tool set, or tools with commas.")] = "full",
    sandbox: Annotated[Text, typer.Option(help="docker, bubblewrap or local.")] = None,
) -> None:
    """Debug a task yourself, recorded like any agent."""
    from env.benchmarks.base import Source
    from flows.commands.play import play as play_task

    raise typer.Exit(play_task(task, benchmark, Source(path, fixes, repos, environments), tools, sandbox))


@app.command()
def replay(
    episode: Annotated[str, typer.Argument(help="An episode's number.")],
    sandbox: Annotated[
        Text, typer.Option(help="docker, bubblewrap or local. Default: the one it was played in.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Repeat an episode's actions in a fresh sandbox, and say where it differs. Exit status 1: it does."""
    from flows.commands.replay import replay as play_again

    raise typer.Exit(play_again(episode, sandbox, as_json))


@app.command()
def export(
    run: Annotated[str, typer.Argument(help="A run's number or name, or `latest`.")] = "latest",
    format: Annotated[
        str, typer.Option(help="jsonl (all steps), chat (conversations), csv (episodes), swebench (predictions).")
    ] = "jsonl",
    out: Annotated[File, typer.Option(help="File to write. Default: standard output.")] = None,
    verdict: Annotated[Strings, typer.Option(help="Only resolved, unresolved or error episodes.")] = None,
    entrant: Annotated[Strings, typer.Option(help="Only this entrant's episodes.")] = None,
) -> None:
    """Write the episodes of a run to a file, for other programs."""
    from flows.commands.export import export as write

    write(run, format, out, {"verdict": verdict, "entrant": entrant})


@app.command()
def report(
    run: Annotated[str, typer.Argument(help="A run's number or name, or `latest`.")] = "latest",
    out: Annotated[Path, typer.Option(help="The HTML file to write.")] = _REPORT,
    as_json: Json = False,
) -> None:
    """Write a run's report as one HTML file that opens without a server."""
    from flows.commands.report import report as write

    write(run, out, as_json)
