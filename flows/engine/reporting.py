"""Reports runs to the outside: as Prefect artifacts and events, and as a chat message if something got worse.

A failed report does not change how a run ends; it is logged. Importing this module imports Prefect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

from stackrank import log
from stackrank.db import queries
from stackrank.db.connection.errors import DatabaseError
from stackrank.db.queries import Scope
from stackrank.db.queries.boards.standings import RankedStanding
from stackrank.db.queries.runs import RunProgress, RunRow
from stackrank.db.writes.store import Store
from stackrank.flows.engine.webhook import WebhookError, post, webhook_url
from stackrank.flows.runs.playing.progress import followed
from stackrank.flows.runs.specification.spec import RunSpec
from stackrank.settings import settings
from stackrank.wording import percent

UPDATE_EVERY_S = 5.0
EVENT = "stackrank.regression"
LEADERBOARD = "stackrank.leaderboard."
"""The prefix of the id of an event's resource; the leaderboard's name follows."""
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
    shown, away = 0.0, False

    def show(counts: RunProgress) -> None:
        nonlocal shown, away
        total = counts["done"] + counts["running"] + counts["pending"]
        done = round(100.0 * counts["done"] / total, 1) if total else 100.0
        if done == shown or away:
            return
        try:
            update_progress_artifact(artifact, done)
            shown = done
        except _UNREACHABLE as error:
            log.warning("Prefect shows no progress", run=run_id, error=error)
            away = True

    with followed(engine, run_id, UPDATE_EVERY_S, show):
        yield


def announce(engine: Engine, run_id: int, spec: RunSpec) -> None:
    """Report a finished run: its result as artifacts, and what got worse as events and a chat message."""
    try:
        run = queries.run(engine, run_id)
        found = _find_regressions(engine, run, spec)
        about = queries.describe_scope(engine, Scope(run=run_id))["sentence"]
        _show(engine, run, found)
    except _UNREACHABLE as error:
        log.warning("Prefect shows no result", run=run_id, error=error)
        return
    try:
        if found and (url := webhook_url(spec.webhook)):
            post(url, message(run, found, about))
            log.info("the webhook was told", run=run_id)
    except WebhookError as error:
        log.warning(str(error), run=run_id)
        get_run_logger().warning(str(error))


def _find_regressions(engine: Engine, run: RunRow, spec: RunSpec) -> list[Row]:
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
    """Return the address of a run or episode on the dashboard; empty if `STACKRANK_DASHBOARD_URL` is not set."""
    base = settings().dashboard_url.rstrip("/")
    return f"{base}/{page}?{urlencode({'id': row_id})}" if base else ""


def message(run: RunRow, found: list[Row], about: str) -> str:
    """Return the text of the chat message. `about`: the scope of the run."""
    lines = [f"stackrank: {run['leaderboard']} got worse in run {run['id']} ({run['name']})"]
    lines += [f"• {each['sentence']}" for each in found]
    return "\n".join([*lines, about, *filter(None, [link("run", run["id"])])])


def _show(engine: Engine, run: RunRow, found: list[Row]) -> None:
    board = queries.board(engine, Scope(run=run["id"]))
    rows, about = [*board["entrants"], *board["reference"]], board["scope"]["sentence"]
    table = [
        {
            "entrant": row["entrant"],
            "resolved": percent(row["rate"]),
            "from": percent(row["ci_low"]),
            "to": percent(row["ci_high"]),
            "episodes": row["episodes"],
            "errors": row["errors"],
            "cost $": row["cost_usd"],
            "ranked": not row["reference"],
        }
        for row in rows
    ]
    key = f"run-{run['id']}"
    create_table_artifact(table, key=f"{key}-result", description=f"Run {run['id']}: {about}")
    create_markdown_artifact(_summary(engine, run, rows, found, about), key=f"{key}-summary", description=run["name"])


def _summary(engine: Engine, run: RunRow, rows: Sequence[RankedStanding], found: list[Row], about: str) -> str:
    lines = [f"# {run['name']}", "", f"{about} It took {run['wall_s'] or 0:.0f} s."]
    if where := link("run", run["id"]):
        lines.append(f"[Run {run['id']} on the dashboard]({where})")
    lines += ["", *(f"- **{each['sentence']}**" for each in found)]
    lines += ["", "| entrant | resolved | errors | failure points |", "| --- | --- | --- | --- |"]
    remarks = [
        f"{row['entrant']}: {text}" for row in rows for text in (row["apart"], row["partial"], row["warning"]) if text
    ]
    points = {
        each["entrant_id"]: each["failure_points"] for each in queries.failure_points(engine, Scope(run=run["id"]))
    }
    for row in rows:
        why = ", ".join(f"{name} {count}" for name, count in points.get(row["entrant_id"], {}).items())
        lines.append(f"| {row['entrant']} | {percent(row['rate'])} | {row['errors']} | {why} |")
    lines += ["", *remarks]
    failed = queries.episodes(engine, run["id"], verdict="unresolved", limit=10)
    if failed and link("episode", 0):
        lines += ["", "Unresolved, for instance:"]
        lines += [f"- [{each['task']} by {each['entrant']}]({link('episode', each['id'])})" for each in failed]
    return "\n".join(lines)
