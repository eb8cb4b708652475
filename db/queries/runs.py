"""Queries about runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, Select, cast, func, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql import ColumnElement

from stackrank.db import rows
from stackrank.db.connection.errors import NO_RUN, NotFound
from stackrank.db.connection.transactions import BENCHMARK, COUNTER, ENTRANT, EPISODE, RUN, TASK
from stackrank.db.models.columns import now
from stackrank.db.queries.reading import as_list, fetch, fetch_one, row_id
from stackrank.db.totals.counters import sum_columns
from stackrank.storable import storable_text
from stackrank.terms import EpisodeStatus, RunStatus, Verdict
from stackrank.wording import moment

LATEST = "latest"
_BENCHMARK = (BENCHMARK.c.name.label("benchmark"), BENCHMARK.c.digest.label("benchmark_digest"))
_SHOWN = [column for column in RUN.c if column.name not in {"spec", "versions"}]


def runs(
    engine: Engine,
    *,
    status: str | Iterable[str] | None = None,
    benchmark: str | None = None,
    leaderboard: str | None = None,
    owner: str | None = None,
    project: str | None = None,
    tags: str | Iterable[str] = (),
    name: str | None = None,
    scheduled: bool = False,
    before: int | None = None,
    limit: int = 50,
) -> list[rows.RunListed]:
    """Return runs, newest first, each with its benchmark's name, `wall_s` and the counts of `progress`.

    `name` is a part of the name. `scheduled`: only runs that a schedule started. With several `tags`, a run must have
    all of them. `before` is the id of the last run on the previous page.
    """
    query = select(*_SHOWN, *_BENCHMARK).join(BENCHMARK)
    conditions: list[ColumnElement[bool]] = [has_tag(engine, tag) for tag in as_list(tags)]
    if states := as_list(status):
        conditions.append(RUN.c.status.in_(states))
    named = (
        (BENCHMARK.c.name, benchmark),
        (RUN.c.leaderboard, leaderboard),
        (RUN.c.owner, owner),
        (RUN.c.project, project),
    )
    conditions += [column == storable_text(value) for column, value in named if value]
    if name:
        conditions.append(RUN.c.name.icontains(storable_text(name), autoescape=True))
    if scheduled:
        conditions.append(RUN.c.schedule != "")
    if before is not None:
        conditions.append(RUN.c.id < before)
    found = fetch(engine, query.where(*conditions).order_by(RUN.c.id.desc()).limit(limit), rows.RunListed)
    counts = _counts(engine, [row["id"] for row in found])
    return [{**row, "wall_s": wall_s(row), **counts[row["id"]]} for row in found]


def run(engine: Engine, ref: int | str) -> rows.Run:
    """Return one run with its specification, versions, benchmark, counts, and the ids and names of its entrants.

    `ref` is an id, a name (the latest of that name) or `latest`. Raises `NotFound`.
    """
    found: rows.Run = _find(engine, select(RUN, *_BENCHMARK).join(BENCHMARK), ref)
    entrant = select(*(ENTRANT.c[name] for name in ("id", "digest", "name", "model", "agent", "tools")))
    played = select(EPISODE.c.entrant_id).where(EPISODE.c.run_id == found["id"], EPISODE.c.counted)
    entrants = fetch(engine, entrant.where(ENTRANT.c.id.in_(played)).order_by(ENTRANT.c.name))
    return {**found, "wall_s": wall_s(found), **progress(engine, found["id"]), "entrants": entrants}


def find_run_id(engine: Engine, ref: int | str) -> int:
    """Return the id of the run that `ref` means (see `run`). Raises `NotFound`."""
    return int(_find(engine, select(RUN.c.id), ref)["id"])


def _find(engine: Engine, query: Select[Any], ref: int | str) -> Any:
    number, found = row_id(ref), None
    if number is not None:
        found = fetch_one(engine, query.where(RUN.c.id == number))
    if found is None:
        named = query if ref == LATEST else query.where(RUN.c.name == storable_text(str(ref)))
        found = fetch_one(engine, named.order_by(RUN.c.id.desc()))
    if found is None and ref == LATEST:
        raise NotFound(NO_RUN)
    if found is None:
        raise NotFound(f"There is no run {str(ref)[:80]!r}: `stackrank runs` lists them.")
    return found


def tasks_of_run(engine: Engine, run_id: int) -> list[str]:
    """The names of the tasks that a run plays."""
    played = select(EPISODE.c.task_id).where(EPISODE.c.run_id == run_id, EPISODE.c.counted)
    return [row["name"] for row in fetch(engine, select(TASK.c.name).where(TASK.c.id.in_(played)).order_by(TASK.c.id))]


def run_of_flow(engine: Engine, flow_run_id: str) -> int | None:
    """Return the id of the run that a Prefect flow run created; None if it created none."""
    found = fetch_one(engine, select(RUN.c.id).where(RUN.c.prefect_flow_run_id == flow_run_id))
    return None if found is None else int(found["id"])


def played_in(engine: Engine, run_id: int) -> rows.Played | None:
    """Return whether a run is over, and when it was created, which is part of its flow runs' tag; None if unknown."""
    found = fetch_one(engine, select(RUN.c.status, RUN.c.created_at).where(RUN.c.id == run_id))
    if found is None:
        return None
    return {"over": RunStatus(found["status"]).ended, "created_at": found["created_at"]}


def progress(engine: Engine, run_id: int) -> rows.Progress:
    """Count the episodes of a run that are waiting, running and done."""
    return _counts(engine, [run_id])[run_id]


def _counts(engine: Engine, run_ids: list[int]) -> dict[int, rows.Progress]:
    c = COUNTER.c
    group = (c.run_id, c.counted, c.status, c.verdict, c.error_class)
    query = select(*group, *sum_columns("episodes", "sealed", "priced", "cost_usd"))
    counts = {run_id: _none_yet() for run_id in run_ids}
    for row in fetch(engine, query.where(c.run_id.in_(run_ids)).group_by(*group)):
        found, episodes = counts[row["run_id"]], row["episodes"]
        if row["priced"]:
            found["cost_usd"] = (found["cost_usd"] or 0.0) + row["cost_usd"]
        if not episodes:
            continue
        if not row["counted"]:
            found["retried"] += episodes
        elif row["status"] == EpisodeStatus.RUNNING:
            found["running"] += episodes
        elif row["status"] == EpisodeStatus.NOT_PLAYED:
            found["not_played"] += episodes
        elif row["status"] == EpisodeStatus.PENDING:
            found["pending"] += episodes
        else:
            found["done"] += episodes
            if row["verdict"] == Verdict.RESOLVED:
                found["resolved"] += episodes
                found["sealed"] += row["sealed"]
            elif row["verdict"] == Verdict.UNRESOLVED:
                found["unresolved"] += episodes
            else:
                found["errors"] += episodes
                found["errors_by_class"][row["error_class"]] = episodes
    return counts


def _none_yet() -> rows.Progress:
    return {
        "done": 0,
        "resolved": 0,
        "sealed": 0,
        "unresolved": 0,
        "errors": 0,
        "errors_by_class": {},
        "running": 0,
        "pending": 0,
        "not_played": 0,
        "retried": 0,
        "cost_usd": None,
    }


def has_tag(engine: Engine, tag: str, tags: Any = RUN.c.tags) -> ColumnElement[bool]:
    """Return the condition that a run, or another column of tags, has this tag."""
    if engine.dialect.name == "postgresql":
        return cast(tags, JSONB).contains([tag])
    each = func.json_each(tags).table_valued("value")
    return select(1).select_from(each).where(each.c.value == tag).exists()


def wall_s(run: rows.RunListed) -> float | None:
    """Return the seconds from the run's start to its end, or to now while it runs; None before it has started."""
    if not run["started_at"]:
        return None
    going = run["status"] == RunStatus.RUNNING
    end = now() if going or not run["ended_at"] else datetime.fromisoformat(run["ended_at"])
    return round(max(0.0, (end - datetime.fromisoformat(run["started_at"])).total_seconds()), 3)


def outages(engine: Engine, run_id: int) -> dict[str, rows.Outage]:
    """Return the endpoints that a run waits for."""
    found = fetch_one(engine, select(RUN.c.outages).where(RUN.c.id == run_id))
    return (found and found["outages"]) or {}


def paused(out: Mapping[str, rows.Outage] | None) -> str:
    """Describe the endpoints that a run waits for; empty if there are none."""
    return "; ".join(
        f"endpoint {endpoint} does not answer since {moment(each['since'])} (asked again {each['probes']} times; "
        f"{each['error'][:200]})"
        for endpoint, each in (out or {}).items()
    )
