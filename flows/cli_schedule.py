"""`stackrank schedule`: `add` is meant where the first word is none of its commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from flows.cli_options import Decimal, Json, Strings, Text

Name = Annotated[str, typer.Argument(help="Name of a schedule.")]
POOL = "stackrank"
"""The work pool where none is named."""


class _AddByDefault(TyperGroup):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["add", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_AddByDefault,
    help="Play a run on a schedule: `schedule SPEC.yaml --cron ...` makes one, the commands manage it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def add(
    spec: Annotated[Path, typer.Argument(help="A run specification in YAML.")],
    cron: Annotated[Text, typer.Option(help='When, for instance "0 3 * * *".')] = None,
    every: Annotated[Decimal, typer.Option(min=1, help="Every so many seconds, instead of --cron.")] = None,
    timezone: Annotated[str, typer.Option(help="Time zone of the cron expression.")] = "UTC",
    name: Annotated[Text, typer.Option(help="Name of the schedule, and of its leaderboard.")] = None,
    tag: Annotated[Strings, typer.Option(help="Tag; may be given several times.")] = None,
    on_overlap: Annotated[str, typer.Option(help="While a run goes on, skip or queue the next.")] = "skip",
    pool: Annotated[str, typer.Option(help="Work pool whose workers play it.")] = POOL,
    as_json: Json = False,
) -> None:
    """Make a schedule; without --cron and --every it waits for `trigger`."""
    from flows.commands import schedule

    schedule.add(
        spec, cron=cron, every_s=every, timezone=timezone, name=name, tags=tag or [], on_overlap=on_overlap,
        pool=pool, as_json=as_json,
    )  # fmt: skip


@app.command("list")
def list_all(as_json: Json = False) -> None:
    """List schedules."""
    from flows.commands import schedule

    schedule.list_all(as_json)


@app.command()
def show(name: Name, as_json: Json = False) -> None:
    """Show a schedule, and a Prefect automation that acts when its leaderboard gets worse."""
    from flows.commands import schedule

    schedule.show(name, as_json)


@app.command()
def pause(name: Name) -> None:
    """Make no more runs until `resume`."""
    from flows.commands import schedule

    schedule.pause(name, True)


@app.command()
def resume(name: Name) -> None:
    """Go on with a schedule that was paused."""
    from flows.commands import schedule

    schedule.pause(name, False)


@app.command()
def trigger(
    name: Name,
    key: Annotated[Text, typer.Option(help="The same key starts one run, however often it is called.")] = None,
    as_json: Json = False,
) -> None:
    """Start a run now."""
    from flows.commands import schedule

    schedule.trigger(name, key, as_json)


@app.command()
def remove(name: Name) -> None:
    """Remove a schedule; its runs stay."""
    from flows.commands import schedule

    schedule.remove(name)
