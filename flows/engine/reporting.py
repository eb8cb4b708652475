"""Reports runs to the outside: as Prefect artifacts and events, and as a chat message if something got worse.

A failed report does not change how a run ends; it is logged. Importing this module imports Prefect.
"""

from __future__ import annotations

import os
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
from stackrank.db.queries.explanation.night import NightExplanation
from stackrank.db.queries.runs import RunProgress, RunRow
from stackrank.db.writes.store import Store
from stackrank.errors import InfrastructureError
from stackrank.flows.runs.playing.progress import follow_progress
from stackrank.flows.runs.specification.spec import RunSpec
from stackrank.settings import settings
from stackrank.wording import percent

UPDATE_EVERY_S = 5.0
WEBHOOK_TIMEOUT_S = 10.0
EVENT = "stackrank.regression"
LEADERBOARD = "stackrank.leaderboard."
"""The prefix of the id of an event's resource; the leaderboard's name follows."""
_UNREACHABLE = (httpx.HTTPError, PrefectException, DatabaseError)
Row = dict[str, Any]


@contextmanager
def show_progress(engine: Engine, run_id: int) -> Iterator[None]:
    """Keep a progress artifact of the flow run up to date while episodes are played."""
    try:
        artifact = create_progress_artifact(0.0, key=f"run-{run_id}-progress", description=f"Run {run_id}: episodes")
    except _UNREACHABLE as error:
        log.warning("could not report progress to Prefect", run=run_id, error=error)
        yield
        return
    assert isinstance(artifact, UUID)
    stored_percent, is_unreachable = 0.0, False

    def show(counts: RunProgress) -> None:
        nonlocal stored_percent, is_unreachable
        total = counts["done"] + counts["running"] + counts["pending"]
        new_percent = round(100.0 * counts["done"] / total, 1) if total else 100.0
        if new_percent == stored_percent or is_unreachable:
            return
        try:
            update_progress_artifact(artifact, new_percent)
            stored_percent = new_percent
        except _UNREACHABLE as error:
            log.warning("could not report progress to Prefect", run=run_id, error=error)
            is_unreachable = True

    with follow_progress(engine, run_id, UPDATE_EVERY_S, show):
        yield


def report_run(engine: Engine, run_id: int, spec: RunSpec) -> None:
    """Report a finished run: its result as artifacts, and what got worse as events and a chat message."""
    try:
        run = queries.run(engine, run_id)
        regressions = _find_regressions(engine, run, spec)
        before = queries.night_before(engine, run_id)
        explained = None if before is None else queries.explain_night(engine, before, run_id)
        scope = queries.describe_scope(engine, Scope(run=run_id))["sentence"]
        _show(engine, run, regressions)
    except _UNREACHABLE as error:
        log.warning("could not report the result to Prefect", run=run_id, error=error)
        return
    try:
        is_worse = regressions or (explained is not None and explained["worse"])
        if is_worse and (url := webhook_url(spec.webhook)):
            post_to_webhook(url, chat_message(run, regressions, explained, scope))
            log.info("sent the report to the webhook", run=run_id)
    except WebhookError as error:
        log.warning(str(error), run=run_id)
        get_run_logger().warning(str(error))


def _find_regressions(engine: Engine, run: RunRow, spec: RunSpec) -> list[Row]:
    run_id, limits = run["id"], spec.regression
    regressions = queries.regressions(engine, run_id, alpha=limits.alpha, errors=limits.errors, cost=limits.cost)
    Store(engine).save_regressions(run_id, regressions)
    for regression in regressions:
        log.warning("regression", run=run_id, leaderboard=run["leaderboard"], what=regression["sentence"])
        emit_event(
            event=EVENT,
            resource={
                "prefect.resource.id": f"{LEADERBOARD}{run['leaderboard']}",
                "prefect.resource.name": run["leaderboard"],
            },
            payload={"run": run_id, "name": run["name"], "link": dashboard_link("run", run_id), **regression},
        )
    return regressions


def dashboard_link(page: str, row_id: int) -> str:
    """Return the address of a run or episode on the dashboard; empty if `STACKRANK_DASHBOARD_URL` is not set."""
    return _address(page, id=row_id)


def _address(page: str, **query: int) -> str:
    base = settings().dashboard_url.rstrip("/")
    return f"{base}/{page}?{urlencode(query)}" if base else ""


def chat_message(run: RunRow, regressions: list[Row], explained: NightExplanation | None, scope: str) -> str:
    """Return the text of the chat message: what is worse, the likeliest cause, and a link. `scope`: that of the run.

    `explained`: the run against the night before; None if there was none.
    """
    lines = [f"stackrank: {run['leaderboard'] or run['series']} got worse in run {run['id']} ({run['name']})"]
    lines += [f"• {regression['sentence']}" for regression in regressions]
    link = dashboard_link("run", run["id"])
    if explained is not None and explained["worse"]:
        lines += [] if regressions else [explained["difference"]]
        lines += [explained["why"], explained["fails"]]
        link = _address("against", a=explained["before"], b=explained["run"])
    return "\n".join(filter(None, [*lines, scope, link]))


def _show(engine: Engine, run: RunRow, regressions: list[Row]) -> None:
    board = queries.board(engine, Scope(run=run["id"]))
    rows, scope = [*board["entrants"], *board["reference"]], board["scope"]["sentence"]
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
    create_table_artifact(table, key=f"{key}-result", description=f"Run {run['id']}: {scope}")
    create_markdown_artifact(
        _summary(engine, run, rows, regressions, scope), key=f"{key}-summary", description=run["name"]
    )


def _summary(engine: Engine, run: RunRow, rows: Sequence[RankedStanding], regressions: list[Row], scope: str) -> str:
    lines = [f"# {run['name']}", "", f"{scope} It took {run['wall_s'] or 0:.0f} s."]
    if address := dashboard_link("run", run["id"]):
        lines.append(f"[Run {run['id']} on the dashboard]({address})")
    lines += ["", *(f"- **{row['sentence']}**" for row in regressions)]
    lines += ["", "| entrant | resolved | errors | failure points |", "| --- | --- | --- | --- |"]
    remarks = [
        f"{row['entrant']}: {text}" for row in rows for text in (row["apart"], row["partial"], row["warning"]) if text
    ]
    points = {row["entrant_id"]: row["failure_points"] for row in queries.failure_points(engine, Scope(run=run["id"]))}
    for row in rows:
        failure_points = ", ".join(f"{name} {count}" for name, count in points.get(row["entrant_id"], {}).items())
        lines.append(f"| {row['entrant']} | {percent(row['rate'])} | {row['errors']} | {failure_points} |")
    lines += ["", *remarks]
    failed = queries.episodes(engine, run["id"], verdict="unresolved", limit=10)
    if failed and dashboard_link("episode", 0):
        lines += ["", "Unresolved, for instance:"]
        lines += [f"- [{row['task']} by {row['entrant']}]({dashboard_link('episode', row['id'])})" for row in failed]
    return "\n".join(lines)


class WebhookError(InfrastructureError):
    """The message was not delivered. The error text omits the address, which is a secret."""


def webhook_url(setting: str) -> str:
    """Return the address in a specification (`$NAME` means an environment variable), else `STACKRANK_WEBHOOK`.

    Returns an empty text if neither is set. Raises WebhookError if the value is not an address.
    """
    url = os.path.expandvars(setting) or settings().webhook
    if url and not _is_web_address(url):
        source = setting if setting.startswith("$") else "STACKRANK_WEBHOOK or `webhook:`"
        raise WebhookError(f"{source} is not an http or https address: set it to the URL of the webhook")
    return url


def _is_web_address(url: str) -> bool:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return False
    return parsed.scheme in ("http", "https") and bool(parsed.host)


def post_to_webhook(url: str, text: str) -> None:
    """Send a text as the JSON that Slack, Mattermost, Rocket.Chat and others accept. Raises WebhookError."""
    host = httpx.URL(url).host
    try:
        answer = httpx.post(url, json={"text": text}, timeout=WEBHOOK_TIMEOUT_S)
    except httpx.HTTPError as error:
        raise WebhookError(f"the webhook at {host} does not answer ({type(error).__name__}): check its URL") from None
    if answer.status_code >= 400:
        raise WebhookError(f"the webhook at {host} answered {answer.status_code}: check its URL")
