"""Queries about runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, TypedDict

from sqlalchemy import Engine, Select, cast, func, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql import ColumnElement

from stackrank.db.connection.errors import NO_RUN, NotFound
from stackrank.db.connection.transactions import BENCHMARK, COUNTER, ENTRANT, EPISODE, RUN, TASK
from stackrank.db.queries.reading import Json, as_list, fetch, fetch_one, parse_id
from stackrank.db.totals.counters import sum_columns
from stackrank.host.wall_clock import seconds_since
from stackrank.storable import storable_text
from stackrank.terms import EpisodeStatus, RunStatus, Verdict
from stackrank.wording import moment

LATEST = "latest"
_BENCHMARK = (BENCHMARK.c.name.label("benchmark"), BENCHMARK.c.digest.label("benchmark_digest"))
_SUMMARY_COLUMNS = [column for column in RUN.c if column.name not in {"spec", "versions"}]


class RunProgress(TypedDict):
    """How far a run is, in episodes.

    `done` ones have a verdict, `sealed` and `unverified` ones are resolved, `retried` ones are tries that do not count,
    and `not_played` ones were no longer needed.
    `errors_by_class`: as in `RankedStanding`.
    """

    done: int
    resolved: int
    sealed: int
    unverified: int
    unresolved: int
    errors: int
    errors_by_class: dict[str, int]
    running: int
    pending: int
    not_played: int
    retried: int
    cost_usd: float | None


class Outage(TypedDict):
    """An endpoint that does not answer, and the entrants that wait for it."""

    since: str
    probes: int
    """How often it was asked again."""
    probe: int
    """The episode that asked last."""
    entrants: list[int]
    error: str


class RunSummary(RunProgress):
    """A run, its benchmark's name, how long it has taken, and its progress."""

    id: int
    name: str
    benchmark_id: int
    benchmark: str
    benchmark_digest: str
    status: str
    reason: str
    leaderboard: str
    series: str
    conditions: Json
    conditions_digest: str
    owner: str
    project: str
    tags: list[str]
    seed: int
    episodes_total: int
    schedule: str
    regressions: list[Json]
    outages: dict[str, Outage] | None
    paused: bool
    auto_resumes: int
    prefect_flow_run_id: str
    host: str
    created_at: str | None
    started_at: str | None
    ended_at: str | None
    heartbeat_at: str | None
    wall_s: float | None


class RunRow(RunSummary):
    """A run with what it was made from; `entrants` have id, digest, name, model, agent and tools."""

    spec: Json
    versions: Json
    entrants: list[Json]


class RunState(TypedDict):
    """Whether a run is over, and when it was created, which tells runs of several databases apart."""

    over: bool
    created_at: str


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
    ids: Collection[int] | None = None,
    before_id: int | None = None,
    limit: int = 50,
) -> list[RunSummary]:
    """Return runs, newest first, each with its benchmark's name, `wall_s` and the counts of `progress`.

    `name` is a part of the name. `scheduled`: only runs that a schedule started. `ids`: only these runs. With several
    `tags`, a run must have all of them. `before_id` is the id of the last run on the previous page.
    """
    query = select(*_SUMMARY_COLUMNS, *_BENCHMARK).join(BENCHMARK)
    conditions: list[ColumnElement[bool]] = [has_tag(engine, tag) for tag in as_list(tags)]
    if states := as_list(status):
        conditions.append(RUN.c.status.in_(states))
    filters = (
        (BENCHMARK.c.name, benchmark),
        (RUN.c.leaderboard, leaderboard),
        (RUN.c.owner, owner),
        (RUN.c.project, project),
    )
    conditions += [column == storable_text(value) for column, value in filters if value]
    if name:
        conditions.append(RUN.c.name.icontains(storable_text(name), autoescape=True))
    if ids is not None:
        conditions.append(RUN.c.id.in_(ids))
    if scheduled:
        conditions.append(RUN.c.schedule != "")
    if before_id is not None:
        conditions.append(RUN.c.id < before_id)
    rows = fetch(engine, query.where(*conditions).order_by(RUN.c.id.desc()).limit(limit), RunSummary)
    counts = _read_progress(engine, [row["id"] for row in rows])
    return [{**row, "wall_s": wall_s(row), **counts[row["id"]]} for row in rows]


def run(engine: Engine, ref: int | str) -> RunRow:
    """Return one run with its specification, versions, benchmark, counts, and the ids and names of its entrants.

    `ref` is an id, a name (the latest of that name) or `latest`. Raises `NotFound`.
    """
    row: RunRow = _find_row(engine, select(RUN, *_BENCHMARK).join(BENCHMARK), ref)
    entrant = select(*(ENTRANT.c[name] for name in ("id", "digest", "name", "model", "agent", "tools")))
    played = select(EPISODE.c.entrant_id).where(EPISODE.c.run_id == row["id"], EPISODE.c.counted)
    entrants = fetch(engine, entrant.where(ENTRANT.c.id.in_(played)).order_by(ENTRANT.c.name))
    return {**row, "wall_s": wall_s(row), **progress(engine, row["id"]), "entrants": entrants}


def find_run_id(engine: Engine, ref: int | str) -> int:
    """Return the id of the run that `ref` means (see `run`). Raises `NotFound`."""
    return int(_find_row(engine, select(RUN.c.id), ref)["id"])


def _find_row(engine: Engine, query: Select[Any], ref: int | str) -> Any:
    number, row = parse_id(ref), None
    if number is not None:
        row = fetch_one(engine, query.where(RUN.c.id == number))
    if row is None:
        same_name = query if ref == LATEST else query.where(RUN.c.name == storable_text(str(ref)))
        row = fetch_one(engine, same_name.order_by(RUN.c.id.desc()))
    if row is None and ref == LATEST:
        raise NotFound(NO_RUN)
    if row is None:
        raise NotFound(f"There is no run {str(ref)[:80]!r}: `stackrank runs` lists them.")
    return row


def tasks_of_run(engine: Engine, run_id: int) -> list[str]:
    """The names of the tasks that a run plays."""
    played = select(EPISODE.c.task_id).where(EPISODE.c.run_id == run_id, EPISODE.c.counted)
    return [row["name"] for row in fetch(engine, select(TASK.c.name).where(TASK.c.id.in_(played)).order_by(TASK.c.id))]


def run_of_flow(engine: Engine, flow_run_id: str) -> int | None:
    """Return the id of the run that a Prefect flow run created; None if it created none."""
    row = fetch_one(engine, select(RUN.c.id).where(RUN.c.prefect_flow_run_id == flow_run_id))
    return None if row is None else int(row["id"])


def run_state(engine: Engine, run_id: int) -> RunState | None:
    """Return whether a run is over, and when it was created, which is part of its flow runs' tag; None if unknown."""
    row = fetch_one(engine, select(RUN.c.status, RUN.c.created_at).where(RUN.c.id == run_id))
    if row is None:
        return None
    return {"over": RunStatus(row["status"]).ended, "created_at": row["created_at"]}


def progress(engine: Engine, run_id: int) -> RunProgress:
    """Count the episodes of a run that are waiting, running and done."""
    return _read_progress(engine, [run_id])[run_id]


def _read_progress(engine: Engine, run_ids: list[int]) -> dict[int, RunProgress]:
    c = COUNTER.c
    group = (c.run_id, c.counted, c.status, c.verdict, c.error_class)
    query = select(*group, *sum_columns("episodes", "sealed", "unverified", "priced", "cost_usd"))
    counts = {run_id: _no_progress() for run_id in run_ids}
    for row in fetch(engine, query.where(c.run_id.in_(run_ids)).group_by(*group)):
        progress, episodes = counts[row["run_id"]], row["episodes"]
        if row["priced"]:
            progress["cost_usd"] = (progress["cost_usd"] or 0.0) + row["cost_usd"]
        if not episodes:
            continue
        if not row["counted"]:
            progress["retried"] += episodes
        elif row["status"] == EpisodeStatus.RUNNING:
            progress["running"] += episodes
        elif row["status"] == EpisodeStatus.NOT_PLAYED:
            progress["not_played"] += episodes
        elif row["status"] == EpisodeStatus.PENDING:
            progress["pending"] += episodes
        else:
            progress["done"] += episodes
            if row["verdict"] == Verdict.RESOLVED:
                progress["resolved"] += episodes
                progress["sealed"] += row["sealed"]
                progress["unverified"] += row["unverified"]
            elif row["verdict"] == Verdict.UNRESOLVED:
                progress["unresolved"] += episodes
            else:
                progress["errors"] += episodes
                progress["errors_by_class"][row["error_class"]] = episodes
    return counts


def _no_progress() -> RunProgress:
    return {
        "done": 0,
        "resolved": 0,
        "sealed": 0,
        "unverified": 0,
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
    element = func.json_each(tags).table_valued("value")
    return select(1).select_from(element).where(element.c.value == tag).exists()


def wall_s(run: RunSummary) -> float | None:
    """Return the seconds from the run's start to its end, or to now while it runs; None before it has started."""
    if not run["started_at"]:
        return None
    is_running = run["status"] == RunStatus.RUNNING
    if is_running or not run["ended_at"]:
        return round(seconds_since(run["started_at"]), 3)
    duration = datetime.fromisoformat(run["ended_at"]) - datetime.fromisoformat(run["started_at"])
    return round(max(0.0, duration.total_seconds()), 3)


def outages(engine: Engine, run_id: int) -> dict[str, Outage]:
    """Return the endpoints that a run waits for."""
    row = fetch_one(engine, select(RUN.c.outages).where(RUN.c.id == run_id))
    return (row and row["outages"]) or {}


def describe_outages(outages: Mapping[str, Outage] | None) -> str:
    """Describe the endpoints that a run waits for; empty if there are none."""
    return "; ".join(
        f"endpoint {endpoint} has not answered since {moment(outage['since'])} (retried {outage['probes']} times; "
        f"{outage['error'][:200]})"
        for endpoint, outage in (outages or {}).items()
    )
