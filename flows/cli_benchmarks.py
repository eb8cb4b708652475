"""Commands about benchmarks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.cli_options import (
    EnvironmentsOption,
    File,
    FixesOption,
    Json,
    Number,
    PathOption,
    ReposOption,
    Strings,
    Text,
)

if TYPE_CHECKING:
    from env.benchmarks.base import Source

app = typer.Typer()


@app.command()
def benchmarks(as_json: Json = False) -> None:
    """List benchmarks."""
    from flows.commands import suites

    suites.benchmarks(as_json)


@app.command()
def tasks(
    benchmark: Annotated[str, typer.Argument(help="Name of a benchmark.")],
    path: PathOption = None,
    fixes: FixesOption = None,
    repos: ReposOption = None,
    environments: EnvironmentsOption = None,
    as_json: Json = False,
) -> None:
    """List the tasks of a benchmark."""
    from flows.commands import suites

    suites.tasks(benchmark, _source(path, fixes, repos, environments), as_json)


@app.command()
def validate(
    benchmark: Annotated[str, typer.Argument(help="Name of a benchmark.")],
    path: PathOption = None,
    fixes: FixesOption = None,
    repos: ReposOption = None,
    environments: EnvironmentsOption = None,
    tasks: Annotated[Text, typer.Option(help="Only these tasks, separated by commas.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often in a row it has to hold.")] = 5,
    workers: Annotated[Number, typer.Option(min=1, help="Tasks at the same time.")] = None,
    sandbox: Annotated[Text, typer.Option(help="docker, bubblewrap or local.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Also what was proved before.")] = False,
    record: Annotated[bool, typer.Option("--record", help="Write the tests that have to pass into the tasks.")] = False,
    as_json: Json = False,
) -> None:
    """Prove that every task fails as given and passes with its fix."""
    from flows.commands.validate import validate_benchmark

    names = [name.strip() for name in (tasks or "").split(",") if name.strip()]
    status = validate_benchmark(
        benchmark,
        _source(path, fixes, repos, environments),
        names,
        rounds=rounds,
        workers=workers,
        sandbox=sandbox,
        again=again,
        write=record,
        as_json=as_json,
    )
    raise typer.Exit(status)


@app.command()
def inject(
    path: Annotated[Path, typer.Argument(help="Folder of a Python project with tests.")],
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many bugs.")] = 50,
    seed: Annotated[int, typer.Option(help="Chooses among those that could be made.")] = 0,
    out: Annotated[File, typer.Option(help="Folder to write. Default: PROJECT-bugs.")] = None,
    test: Annotated[Text, typer.Option(help="Its test command. Default: python -m pytest -q.")] = None,
    requirements: Annotated[
        Strings, typer.Option("--require", "--requirements", help="What pip has to install; several with commas.")
    ] = None,
    setup: Annotated[
        Strings, typer.Option(help="Command that sets it up, such as pip install -e . ; several times for several.")
    ] = None,
    python: Annotated[str, typer.Option(help="Python version, such as 3.11. Default: the sandbox's own.")] = "",
    timeout: Annotated[float, typer.Option(min=1, help="Seconds a task's tests may take.")] = 60,
    workers: Annotated[Number, typer.Option(min=1, help="Bugs tried at the same time.")] = None,
    sandbox: Annotated[Text, typer.Option(help="docker, bubblewrap or local.")] = None,
    as_json: Json = False,
) -> None:
    """Make a benchmark of bugs planted in a project, each one noticed by its tests."""
    from env.environment import Environment
    from flows.commands.inject import inject as make

    # Commas between packages, not those of versions and extras.
    comma = re.compile(r"\s*,(?![^\[]*\])\s*(?=[A-Za-z])")
    needs = [each for given in requirements or () for each in comma.split(given.strip()) if each]
    environment = Environment(python, tuple(needs), tuple(setup or ()))
    make(path, count, seed, out, test, environment, timeout, workers, sandbox, as_json)


def _source(path: Path | None, fixes: Path | None, repos: Path | None, environments: Path | None) -> Source:
    from env.benchmarks.base import Source

    return Source(path, fixes, repos, environments)
