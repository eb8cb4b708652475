"""Arguments and options that several commands have, and what they mean."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from stackrank.terms import Verdict
from stackrank.wording import one_of

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


def port_option(help_text: str) -> Any:
    """Return an option for a port. A number that is not a port is refused in one sentence."""
    return typer.Option(min=0, max=65535, help=help_text)


def check_terms(option: str, values: Iterable[str] | None, terms: Iterable[str]) -> None:
    """Raise SpecError for a value that no episode can have, because an empty result would hide the mistake."""
    from stackrank.flows.runs.specification.spec import SpecError

    if unknown := sorted(set(values or ()) - set(terms)):
        raise SpecError(f"{option} {unknown[0]} does not exist: choose {one_of(terms)}")
