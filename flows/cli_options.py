"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
PathOption = Annotated[Optional[Path], typer.Option("--path", help="Where the benchmark's data is.")]  # noqa: UP045
FixesOption = Annotated[Optional[Path], typer.Option("--fixes", help="A folder of known fixes, TASK.patch.")]  # noqa: UP045
ReposOption = Annotated[Optional[Path], typer.Option("--repos", help="A folder of git repositories, bare or not.")]  # noqa: UP045
EnvironmentsOption = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--environments", help="JSON: how environments are built where images cannot be pulled."),
]
Strings = Optional[list[str]]  # noqa: UP045
Number = Optional[int]  # noqa: UP045
Decimal = Optional[float]  # noqa: UP045
Text = Optional[str]  # noqa: UP045
File = Optional[Path]  # noqa: UP045
