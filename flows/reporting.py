"""What others see of a run: Prefect's artifacts and events, and a message to a chat when something got worse.

Nothing here changes how a run ends: what cannot be shown is logged. Importing this module imports Prefect.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import httpx
from prefect import get_run_logger
from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.events import emit_event
from prefect.exceptions import PrefectException
from sqlalchemy import Engine

from db import queries
from db.errors import DatabaseError
from db.store import Store
from flows import log
from flows.output import percent
from flows.spec import RunSpec
from flows.webhook import WebhookError, post, webhook_url

UPDATE_EVERY_S = 5.0
EVENT = "stackrank.regression"
LEADERBOARD = "stackrank.leaderboard."
"""What the id of an event's resource starts with; the leaderboard's name follows."""
_UNREACHABLE = (httpx.HTTPError, PrefectException, DatabaseError)
Row = dict[str, Any]


@contextmanager
def progress_shown(engine: Engine, run_id: int) -> Iterator[None]:
    """Keep a progress artifact of the flow run up to date while episodes are played."""
    try:
        artifact = create_progress_artifact(0.0, key=f"run-{run_id}-progress", description=f"Run {run_id}: episodes")
    except _UNREACHABLE as error:
        log.warning("Prefect shows no progress", run=run_id, error=error)
        yield
        return
    assert isinstance(artifact, UUID)
    over = threading.Event()

    def follow() -> None:
        shown = 0.0
        while True:
            last = over.wait(UPDATE_EVERY_S)
            try:
                counts = queries.progress(engine, run_id)
                total = counts["done"] + counts["running"] + counts["pending"]
                done = round(100.0 * counts["done"] / total, 1) if total else 100.0
                if done != shown:
                    update_progress_artifact(artifact, done)
            except _UNREACHABLE as error:
                log.warning("Prefect shows no progress", run=run_id, error=error)
                return
            shown = done
            if last:
                return

    thread = threading.Thread(target=follow, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(UPDATE_EVERY_S)


def report(engine: Engine, run_id: int, spec: RunSpec) -> None:
    """Say how a finished run went: artifacts, and for what got worse an event and a message."""
    try:
        run = queries.run(engine, run_id)
        found = _find_regressions(engine, run, spec)
        _show(engine, run, found)
    except _UNREACHABLE as error:
        log.warning("Prefect shows no result", run=run_id, error=error)
        return
    try:
        if found and (url := webhook_url(spec.webhook)):
            post(url, message(run, found))
            log.info("the webhook was told", run=run_id)
    except WebhookError as error:
        log.warning(str(error), run=run_id)
        get_run_logger().warning(str(error))


def _find_regressions(engine: Engine, run: Row, spec: RunSpec) -> list[Row]:
    run_id, limits = run["id"], spec.regression
    found = queries.regressions(engine, run_id, alpha=limits.alpha, errors=limits.errors, cost=limits.cost)
    Store(engine).save_regressions(run_id, found)
    for each in found:
        log.warning("regression", run=run_id, leaderboard=run["leaderboard"], what=each["sentence"])
        emit_event(
            event=EVENT,
            resource={
                "prefect.resource.id": f"{LEADERBOARD}{run['leaderboard']}",
                "prefect.resource.name": run["leaderboard"],
            },
            payload={"run": run_id, "name": run["name"], "link": link("run", run_id), **each},
        )
    return found


def link(page: str, row_id: int) -> str:
    """The address of a run or an episode on the dashboard; empty where `STACKRANK_DASHBOARD_URL` is not set."""
    base = os.environ.get("STACKRANK_DASHBOARD_URL", "").rstrip("/")
    return f"{base}/{page}?{urlencode({'id': row_id})}" if base else ""


def message(run: Row, found: list[Row]) -> str:
    """What the chat is told."""
    lines = [f"stackrank: {run['leaderboard']} got worse in run {run['id']} ({run['name']})"]
    lines += [f"• {each['sentence']}" for each in found]
    return "\n".join([*lines, *filter(None, [link("run", run["id"])])])


def _show(engine: Engine, run: Row, found: list[Row]) -> None:
    rows = queries.leaderboard(engine, run=run["id"])
    table = [
        {
            "entrant": row["entrant"],
            "resolved": percent(row["rate"]),
            "from": percent(row["ci_low"]),
            "to": percent(row["ci_high"]),
            "episodes": row["episodes"],
            "errors": row["errors"],
            "cost $": row["cost_usd"],
        }
        for row in rows
    ]
    key = f"run-{run['id']}"
    create_table_artifact(table, key=f"{key}-result", description=f"Run {run['id']} ({run['name']})")
    create_markdown_artifact(_summary(engine, run, rows, found), key=f"{key}-summary", description=run["name"])


def _summary(engine: Engine, run: Row, rows: list[Row], found: list[Row]) -> str:
    lines = [f"# {run['name']}", "", f"{run['benchmark']}, {run['status']}, {run['wall_s'] or 0:.0f} s"]
    if where := link("run", run["id"]):
        lines.append(f"[Run {run['id']} on the dashboard]({where})")
    lines += ["", *(f"- **{each['sentence']}**" for each in found)]
    lines += ["", "| entrant | resolved | errors | failure points |", "| --- | --- | --- | --- |"]
    points = {each["entrant_id"]: each["failure_points"] for each in queries.failure_points(engine, run=run["id"])}
    for row in rows:
        why = ", ".join(f"{name} {count}" for name, count in points.get(row["entrant_id"], {}).items())
        lines.append(f"| {row['entrant']} | {percent(row['rate'])} | {row['errors']} | {why} |")
    failed = queries.episodes(engine, run["id"], verdict="unresolved", limit=10)
    if failed and link("episode", 0):
        lines += ["", "Unresolved, for instance:"]
        lines += [f"- [{each['task']} by {each['entrant']}]({link('episode', each['id'])})" for each in failed]
    return "\n".join(lines)
