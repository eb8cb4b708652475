"""Arguments and options that several commands have, and what they mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stackrank.terms import ErrorsAre, Verdict
from stackrank.wording import one_of

if TYPE_CHECKING:
    from stackrank.db.queries import Scope

POOL = "stackrank"
"""The default work pool."""
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Run = Annotated[str, typer.Argument(help="A run's number or name, or `latest`.")]
Why = Annotated[str, typer.Option("--why", help="Why, for those who look at the run later.")]
Episode = Annotated[str, typer.Argument(help="An episode's number.")]
BenchmarkName = Annotated[str, typer.Argument(help="Name of a benchmark.")]
DataPath = Annotated[Path | None, typer.Option("--path", help="Where the benchmark's data is.")]
Fixes = Annotated[Path | None, typer.Option("--fixes", help="Folder of known fixes, named TASK.patch.")]
Repos = Annotated[Path | None, typer.Option("--repos", help="Folder of git repositories, bare or not.")]
Environments = Annotated[
    Path | None, typer.Option("--environments", help="JSON file: how to build environments if images cannot be pulled.")
]
Night = Annotated[
    str, typer.Option("--night", help="Seed of the benchmark fresh: a date, a number or a text. Default: today.")
]
Sandbox = Annotated[str | None, typer.Option("--sandbox", help="docker, bubblewrap or local.")]
FailingTest = Annotated[
    bool | None,
    typer.Option(
        "--failing-test/--statement-alone",
        help="Whether the failing tests are shown, or only the statement. Default: they are shown.",
    ),
]
FailureState = Annotated[
    bool | None,
    typer.Option(
        "--failure-state/--no-failure-state",
        help="Whether the first message and each failing eval also show frames and local variables of the failures. "
        "Default: they do not.",
    ),
]
IncludeInvalid = Annotated[
    bool | None, typer.Option("--include-invalid", help="Also play tasks that validation found invalid.")
]
Setup = Annotated[
    list[str] | None,
    typer.Option(
        "--setup",
        help="Command that installs the project. Repeat for several. "
        "Default: pip install -e . and what its tests need; '' for none.",
    ),
]
Requirements = Annotated[
    list[str] | None, typer.Option("--require", help="A requirement that pip installs. Repeat for several.")
]
PythonVersion = Annotated[
    str, typer.Option("--python", help="Python version, such as 3.11. Default: the sandbox's own.")
]
Api = Annotated[str, typer.Option("--api", help="Address of the forge's API.")]
API = "https://api.github.com"
Verdicts = Annotated[list[str] | None, typer.Option("--verdict", help=f"Only {one_of(Verdict)} episodes.")]

OnlyRun = Annotated[str | None, typer.Option("--run", help="Only this run, whatever its status.")]
OnlyBenchmark = Annotated[str | None, typer.Option("--benchmark", help="Only runs of this benchmark.")]
Series = Annotated[
    str | None,
    typer.Option("--series", "--name", help="Only runs of the leaderboard, the schedule or the run name."),
]
Conditions = Annotated[
    str | None, typer.Option("--conditions", help="Only runs whose conditions have a digest with this beginning.")
]
OnlyTags = Annotated[list[str] | None, typer.Option("--tag", help="Only runs with this tag.")]
FinishedOnly = Annotated[
    bool,
    typer.Option(
        "--finished-only/--all", help="Whether to leave out runs that are in progress, were cancelled or failed."
    ),
]

ErrorsOption = Annotated[
    ErrorsAre, typer.Option("--errors", help="Whether rates leave out errors or count them as failures.")
]
WithoutDisputed = Annotated[
    bool, typer.Option("--without-disputed", help="Leave out tasks that people dispute with `stackrank label`.")
]
TaskTag = Annotated[str, typer.Option("--task-tag", help="Only tasks with this tag, such as a language.")]


def port_option(help_text: str) -> Any:
    """Return an option for a port. A number that is not a port is refused in one sentence."""
    return typer.Option(min=0, max=65535, help=help_text)


def check_terms(option: str, values: Iterable[str] | None, terms: Iterable[str]) -> None:
    """Raise SpecError for a value that no episode can have, because an empty result would hide the mistake."""
    from stackrank.flows.runs.specification.spec import SpecError

    if unknown := sorted(set(values or ()) - set(terms)):
        raise SpecError(f"{option} {unknown[0]} does not exist: choose {one_of(terms)}")


def scope_of(
    run: str | Sequence[str] | None,
    benchmark: str | None,
    series: str | None,
    conditions: str | None,
    tag: list[str] | None,
    finished_only: bool,
    errors: ErrorsAre = ErrorsAre.LEFT_OUT,
    without_disputed: bool = False,
    task_tag: str = "",
) -> Scope:
    """Return the scope that these options describe."""
    from stackrank.db.queries import Scope

    return Scope(
        run=run or None,
        benchmark=benchmark,
        series=series,
        conditions=conditions,
        tags=tuple(tag or ()),
        finished_only=finished_only,
        errors=errors,
        without_disputed=without_disputed,
        task_tag=task_tag,
    )
