"""The command line. Commands import what they need when they are called, so that `--help` is quick."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from functools import cache
from typing import Annotated, Any

import typer

from stackrank import log
from stackrank.errors import InfrastructureError, SettingsError, UsageError
from stackrank.extras import missing_extra
from stackrank.flows.cli import (
    benchmarks,
    boards,
    database,
    machine,
    operating,
    plan,
    results,
    runs,
    schedule,
    services,
)
from stackrank.flows.cli.plugin_commands import GroupWithPlugins
from stackrank.host.programs import protect_environment
from stackrank.wording import print_err, print_out

app = typer.Typer(
    name="stackrank",
    cls=GroupWithPlugins,
    help="Run debugging agents against real bugs; rank models and tool sets; see where each one fails.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for group in (runs, operating, plan, results, boards, benchmarks, services, machine):
    app.add_typer(group.app)
app.add_typer(database.app, name="db")
app.add_typer(schedule.app, name="schedule")

_debug = False


def print_version(is_wanted: bool) -> None:
    """Print the version and exit, if the option is given."""
    if is_wanted:
        from importlib.metadata import version

        installed = version("stackrank")
        print_out(f"stackrank {installed}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks and Prefect's log.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Store the options that all commands share."""
    global _debug
    _debug = debug
    context.obj = {"debug": debug}


@cache
def build_command() -> Any:
    """Build the tree of the commands: 40 milliseconds."""
    return typer.main.get_command(app)


def main() -> None:
    """Run the command line. Known errors become one sentence and an exit status."""
    # Threads would spin longer than they work: the matrices of a comparison are small.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    log.configure()
    with suppress(SettingsError):  # the command itself reports it
        protect_environment()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a character gets a sign for it, and not an error.
            stream.reconfigure(errors="replace")
    try:
        build_command()()
    except Exception as error:
        if _debug:
            raise
        from stackrank.flows.services.prefect_server import explain_http_error

        error = explain_http_error(error) or error
        if isinstance(error, OverflowError):
            numbers = [argument for argument in sys.argv[1:] if argument.lstrip("+-").isdecimal()]
            error = UsageError(f"{max(numbers, key=len, default='a number')} is too large a number here")
        if extra := missing_extra(error):
            error = UsageError(f"{error}: run pip install 'stackrank[{extra}]'")
        text = " ".join(_sentence(error).split())
        if not isinstance(error, UsageError | InfrastructureError | OSError):
            text = f"{type(error).__name__}: {text} (a bug in stackrank: `stackrank --debug COMMAND` says where)"
        print_err(f"error: {text}")
        sys.exit(2 if isinstance(error, UsageError) else 1)


def _sentence(error: Exception) -> str:
    if not isinstance(error, OSError) or isinstance(error, UsageError | InfrastructureError) or error.errno is None:
        return str(error)
    from stackrank.home import home
    from stackrank.host.disk import explain_os_error

    return explain_os_error(error, (home(),))


if __name__ == "__main__":
    main()
