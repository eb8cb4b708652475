"""`stackrank schedule` and `stackrank worker`."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import yaml

from flows.output import moment, print_json, print_table, say
from flows.server import client_env, ensure_server
from flows.spec import SpecError, read_spec

_NAME = re.compile(r"[\w][\w .+-]*")
_COLUMNS = {
    "name": "schedule", "benchmark": "benchmark", "leaderboard": "leaderboard", "when": "when", "timezone": "time zone",
    "on_overlap": "on overlap", "pool": "pool", "paused": "paused", "next": "next run",
}  # fmt: skip


def connect_to_prefect() -> str:
    """Find or start the Prefect server, and set what the client reads from the environment. Returns the API's URL."""
    url = ensure_server(say=say)
    os.environ.update(client_env(url))
    return url


def add(
    file: Path,
    *,
    cron: str | None,
    every_s: float | None,
    timezone: str,
    name: str | None,
    tags: list[str],
    on_overlap: str,
    pool: str,
    as_json: bool,
) -> None:
    """Make a schedule from a run specification."""
    from flows.plan import make_plan

    spec = read_spec(file, {})
    chosen = name or spec.name or file.stem
    if not _NAME.fullmatch(chosen):
        raise SpecError(f"{chosen!r} cannot be the name of a schedule: use letters, digits and - _ . with --name")
    if on_overlap not in ("skip", "queue"):
        raise SpecError(f"--on-overlap {on_overlap} means nothing: use skip or queue")
    # Said now and not at three in the morning. The worker may stand elsewhere, and checks again.
    make_plan(spec)
    connect_to_prefect()
    from flows import schedules

    when = schedules.timing(cron, every_s, timezone)
    spec = spec.model_copy(update={"tags": sorted({*spec.tags, *tags})})
    made = schedules.add(spec, name=chosen, pool=pool, when=when, tags=spec.tags, on_overlap=on_overlap)  # type: ignore[arg-type]
    if as_json:
        print_json(made)
        return
    print(f"schedule {chosen}: {_when(made)}, runs belong to the leaderboard {made['leaderboard']}")
    print(f"A worker plays it: stackrank worker --pool {pool} (`stackrank up` starts one in the background)")


def list_all(as_json: bool) -> None:
    """List schedules."""
    connect_to_prefect()
    from flows import schedules

    found = schedules.rows()
    if as_json:
        print_json(found)
        return
    empty = 'There is no schedule yet: `stackrank schedule SPEC.yaml --cron "0 3 * * *"` makes one.'
    print_table([{**each, "when": _when(each), "next": moment(each["next"])} for each in found], _COLUMNS, empty)


def show(name: str, as_json: bool) -> None:
    """One schedule, and the automation that could watch it."""
    connect_to_prefect()
    from flows import schedules

    row = schedules.row(name)
    document = {**row, "automation": schedules.automation(row)}
    if as_json:
        print_json(document)
        return
    print_table([{**row, "when": _when(row), "next": moment(row["next"])}], _COLUMNS, "")
    print(f"\n{yaml.safe_dump({'spec': row['spec']}, sort_keys=False, allow_unicode=True)}")
    print(f"# To act when {row['leaderboard']} gets worse: `prefect automation create --from-file FILE` with the lines")
    print("# below; other actions (send-notification, run-deployment, call-webhook) are described in Prefect's manual.")
    print(yaml.safe_dump(document["automation"], sort_keys=False, allow_unicode=True), end="")


def pause(name: str, paused: bool) -> None:
    """Pause a schedule, or go on with it."""
    connect_to_prefect()
    from flows import schedules

    schedules.set_paused(name, paused)
    print(f"schedule {name}: {'paused' if paused else 'goes on'}")


def trigger(name: str, key: str | None, as_json: bool) -> None:
    """Start a run now."""
    connect_to_prefect()
    from flows import schedules

    made = schedules.trigger(name, key)
    if as_json:
        print_json(made)
    else:
        print(f"schedule {name}: started flow run {made['name']}")


def remove(name: str) -> None:
    """Remove a schedule."""
    connect_to_prefect()
    from flows import schedules

    schedules.remove(name)
    print(f"schedule {name}: removed; its runs stay")


def _when(row: dict[str, Any]) -> str:
    if row["cron"]:
        return str(row["cron"])
    return f"every {row['every_s']:g} s" if row["every_s"] else "when triggered"
