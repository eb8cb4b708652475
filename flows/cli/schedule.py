"""`stackrank schedule`. `add` may be left out: a first word that is not a command is a specification."""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from stackrank.flows.cli.options import POOL, Json
from stackrank.flows.cli.output import print_json, print_table
from stackrank.flows.cli.plugin_commands import Group
from stackrank.wording import moment, print_err, print_out

Name = Annotated[str, typer.Argument(help="Name of a schedule.")]
_NAME = re.compile(r"[\w][\w .+-]*")
_COLUMNS = {
    "name": "schedule", "benchmark": "benchmark", "leaderboard": "leaderboard", "when": "when", "timezone": "time zone",
    "on_overlap": "on overlap", "pool": "pool", "paused": "paused", "next": "next run",
}  # fmt: skip


class _AddByDefault(Group):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["add", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_AddByDefault,
    help="Play a run on a schedule. `schedule SPEC.yaml --cron ...` creates one; the commands below manage it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _schedules() -> ModuleType:
    """Return the module of schedules, after making sure that Prefect's server answers and this process can use it."""
    from stackrank.flows.services.prefect_server import client_env, ensure_server
    from stackrank.home import home
    from stackrank.host.programs import leave_user_folder

    leave_user_folder(home())
    os.environ.update(client_env(ensure_server(say=print_err)))
    # Prefect reads these variables once, when it is imported.
    from stackrank.flows.engine import schedules

    return schedules


@app.command()
def add(
    spec: Annotated[Path, typer.Argument(help="A run specification in YAML.")],
    cron: Annotated[str | None, typer.Option(help='Cron expression, for instance "0 3 * * *".')] = None,
    every: Annotated[float | None, typer.Option(min=1, help="Seconds between runs, instead of --cron.")] = None,
    timezone: Annotated[str, typer.Option(help="Time zone of the cron expression.")] = "UTC",
    name: Annotated[str, typer.Option(help="Name of the schedule, and of its leaderboard.")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="A tag. Repeat for several.")] = None,
    on_overlap: Annotated[
        str, typer.Option(help="What to do with the next run while one is in progress: skip or queue.")
    ] = "skip",
    pool: Annotated[str, typer.Option(help="Prefect work pool whose workers play it.")] = POOL,
    as_json: Json = False,
) -> None:
    """Create a schedule, or update it. Without --cron or --every, a new one runs only when you `trigger` it."""
    from stackrank.flows.runs.preparing.prepared_run import check
    from stackrank.flows.runs.specification.spec import SpecError, read_spec

    run_spec = read_spec(spec, {})
    schedule_name = name or run_spec.name or spec.stem
    if not _NAME.fullmatch(schedule_name):
        raise SpecError(
            f"{schedule_name!r} cannot be the name of a schedule: use letters, digits and - _ . with --name"
        )
    if on_overlap not in ("skip", "queue"):
        raise SpecError(f"--on-overlap {on_overlap} is not possible: use skip or queue")
    # Find mistakes now, and not at night when the run starts. A worker on another machine checks again.
    check(run_spec)
    schedules = _schedules()
    when = schedules.parse_timing(cron, every, timezone)
    run_spec = run_spec.model_copy(update={"tags": sorted({*run_spec.tags, *(tag or ())})})
    schedule = schedules.add(
        run_spec, name=schedule_name, pool=pool, when=when, tags=run_spec.tags, on_overlap=on_overlap
    )
    if as_json:
        print_json(schedule)
        return
    print_out(f"schedule {schedule_name}: {_when(schedule)}, runs belong to the leaderboard {schedule['leaderboard']}")
    print_out(f"A worker plays it: stackrank worker --pool {pool} (`stackrank up` starts one in the background)")


@app.command("list")
def list_all(as_json: Json = False) -> None:
    """List schedules."""
    rows = _schedules().list_schedules()
    if as_json:
        print_json(rows)
    else:
        empty = 'There is no schedule yet: create one with `stackrank schedule SPEC.yaml --cron "0 3 * * *"`.'
        print_table([_cells(row) for row in rows], _COLUMNS, empty)


@app.command()
def show(name: Name, as_json: Json = False) -> None:
    """Show a schedule, and a Prefect automation that reacts when its leaderboard gets worse."""
    import yaml

    schedules = _schedules()
    row = schedules.find_schedule(name)
    automation = schedules.make_automation(row)
    if as_json:
        print_json({**row, "automation": automation})
        return
    print_table([_cells(row)], _COLUMNS, "")
    print_out(f"\n{yaml.safe_dump({'spec': row['spec']}, sort_keys=False, allow_unicode=True)}")
    print_out(
        f"# To act when {row['leaderboard']} gets worse: `prefect automation create --from-file FILE` with the lines"
    )
    print_out(
        "# below; other actions (send-notification, run-deployment, call-webhook) are described in Prefect's manual."
    )
    print_out(yaml.safe_dump(automation, sort_keys=False, allow_unicode=True), end="")


@app.command()
def pause(name: Name) -> None:
    """Pause a schedule: it starts no runs until you `resume` it."""
    _schedules().set_paused(name, True)
    print_out(f"schedule {name}: paused")


@app.command()
def resume(name: Name) -> None:
    """Resume a paused schedule."""
    _schedules().set_paused(name, False)
    print_out(f"schedule {name}: resumed")


@app.command()
def trigger(
    name: Name,
    key: Annotated[
        str | None, typer.Option(help="Idempotency key: repeated calls with the same key start only one run.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Start a run of a schedule now."""
    flow_run = _schedules().trigger(name, key)
    if as_json:
        print_json(flow_run)
    else:
        print_out(f"schedule {name}: started flow run {flow_run['name']}")


@app.command()
def unblock(
    name: Name,
    force: Annotated[bool, typer.Option("--force", help="Also close flow runs that still send heartbeats.")] = False,
    as_json: Json = False,
) -> None:
    """Release the slot of a schedule that a dead worker still holds. The dead worker's run can be resumed."""
    from stackrank.db.connection.engine import connect
    from stackrank.db.writes.store import Store

    outcome = _schedules().unblock(name, Store(connect()), force=force)
    if as_json:
        print_json(outcome)
        return
    print_out(f"schedule {name}: {len(outcome['closed'])} flow runs of dead workers were closed")
    if outcome["alive"]:
        print_err(f"{', '.join(outcome['alive'])} still runs and keeps the slot: wait, or use --force")
        raise typer.Exit(1)


@app.command()
def remove(name: Name) -> None:
    """Remove a schedule. Its runs stay."""
    _schedules().remove(name)
    print_out(f"schedule {name}: removed; its runs stay")


def _cells(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "when": _when(row), "next": moment(row["next"])}


def _when(row: dict[str, Any]) -> str:
    if row["cron"]:
        return str(row["cron"])
    return f"every {row['every_s']:g} s" if row["every_s"] else "when triggered"
