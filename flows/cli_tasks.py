"""Commands that make tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.cli_options import Json, Strings, Text

app = typer.Typer()


@app.command("init-task")
def init_task(
    repo: Annotated[str, typer.Argument(help="A git repository: a path or a URL.")],
    commit: Annotated[str, typer.Argument(help="The commit that fixed the bug, with a test.")],
    out: Annotated[Path, typer.Option(help="Folder that gets tasks.yaml and the patches; one that is there grows.")],
    test: Annotated[str, typer.Option(help="The test command. Default: pytest on the files that changed.")] = "",
    setup: Annotated[
        Strings, typer.Option(help="Command that sets it up; several times for several. Default: pip install -e .")
    ] = None,
    require: Annotated[Strings, typer.Option(help="What pip has to install; may be given several times.")] = None,
    python: Annotated[str, typer.Option(help="Python version, such as 3.11. Default: the sandbox's own.")] = "",
    subdir: Annotated[str, typer.Option(help="The folder of the repository that is the workspace.")] = ".",
    statement: Annotated[str, typer.Option(help="What is wrong, as agents are told.")] = "",
    hidden_tests: Annotated[bool, typer.Option("--hidden-tests", help="Keep the tests for the verdict.")] = False,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds the tests may take.")] = 300,
    id: Annotated[str, typer.Option(help="The task's name. Default: the repository's and the commit's.")] = "",
    sandbox: Annotated[Text, typer.Option(help="docker or bubblewrap.")] = None,
    as_json: Json = False,
) -> None:
    """Make a task of a commit that fixed a bug: finds the tests that it makes pass, and proves the task."""
    from env.benchmarks.from_commit import Wishes
    from flows.commands.init_task import init_task as make

    wishes = Wishes(
        id=id,
        statement=statement,
        test=test,
        setup=tuple(setup or ()),
        requirements=tuple(require or ()),
        python=python,
        subdir=subdir,
        hidden_tests=hidden_tests,
        timeout_s=timeout,
    )
    make(repo, commit, out, wishes, sandbox, as_json)
