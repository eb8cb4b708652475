"""Queries about benchmarks, tasks and entrants."""

from __future__ import annotations

from typing import Any, TypedDict

from sqlalchemy import Engine, func, select

from stackrank.db.connection.errors import NotFound
from stackrank.db.connection.transactions import BENCHMARK, ENTRANT, EPISODE, RUN, TASK
from stackrank.db.queries.reading import Json, Row, fetch, fetch_one, parse_id
from stackrank.db.writes.validations import RESULT
from stackrank.storable import storable_text


class BenchmarkRow(TypedDict):
    """One version of a benchmark."""

    id: int
    name: str
    digest: str
    license: str
    source: str
    tasks_total: int
    created_at: str | None
    validated_at: str | None
    tasks_valid: int | None
    rates: Json | None


class TaskSummary(TypedDict):
    """A task without its long texts."""

    id: int
    benchmark_id: int
    name: str
    title: str
    category: str
    difficulty: str
    digest: str
    tags: list[str]
    faults: list[Json]
    measured: dict[str, Any] | None
    tests_deciding: int | None
    tests_covered: int | None
    valid: bool | None
    invalid_reason: str
    validated_rounds: int
    validated_at: str | None


class TaskRow(TaskSummary):
    """A task with all its columns and its benchmark's name."""

    statement: str
    fix: str
    files: dict[str, str]
    audit: dict[str, Any] | None
    benchmark: str


class EntrantRow(TypedDict):
    """An agent, its model and its tools. `called`: its name in the specification; `name` is unique among entrants."""

    id: int
    digest: str
    name: str
    called: str
    reference: bool
    agent: str
    agent_version: str
    model: str
    tools: str
    tool_list: list[str]
    tool_versions: dict[str, str]
    config: Json
    created_at: str | None


def benchmarks(engine: Engine) -> list[Row]:
    """The stored versions of benchmarks, newest first, each with its number of runs."""
    count = select(func.count()).where(RUN.c.benchmark_id == BENCHMARK.c.id).scalar_subquery().label("runs")
    return fetch(engine, select(BENCHMARK, count).order_by(BENCHMARK.c.id.desc()))


def benchmark(engine: Engine, ref: int | str) -> BenchmarkRow:
    """Return the benchmark with this id, or else the newest version with this name. Raises `NotFound`."""
    query = select(BENCHMARK).order_by(BENCHMARK.c.id.desc())
    number = parse_id(ref)
    row = fetch_one(engine, query.where(BENCHMARK.c.id == number), BenchmarkRow) if number is not None else None
    row = row or fetch_one(engine, query.where(BENCHMARK.c.name == storable_text(str(ref))), BenchmarkRow)
    if row is None:
        raise NotFound(f"There is no benchmark {str(ref)[:80]!r} with a run: `stackrank benchmarks` lists them all.")
    return row


def tasks(engine: Engine, ref: int | str, *, valid: bool | None = None) -> list[TaskSummary]:
    """Return the tasks of a benchmark by name, without their long columns. `valid`: only those with this value."""
    columns = [column for column in TASK.c if column.name not in {"statement", "fix", "files", "audit"}]
    query = select(*columns).where(TASK.c.benchmark_id == benchmark(engine, ref)["id"]).order_by(TASK.c.name)
    return fetch(engine, query if valid is None else query.where(TASK.c.valid.is_(valid)), TaskSummary)


def validations(engine: Engine, benchmark_name: str) -> dict[tuple[str, str], Row]:
    """Return the last result of `stackrank validate` for each task, in any version of a benchmark.

    Maps (task name, digest) to the columns `valid` (None: undetermined), `invalid_reason`, `validated_rounds`,
    `validated_at`, `tests_deciding` and `tests_covered`.
    """
    columns = [TASK.c[name] for name in RESULT]
    query = (
        select(TASK.c.name, TASK.c.digest, *columns)
        .join(BENCHMARK)
        .where(BENCHMARK.c.name == storable_text(benchmark_name), TASK.c.validated_at.is_not(None))
        .order_by(TASK.c.validated_at)
    )
    return {(row.pop("name"), row.pop("digest")): row for row in fetch(engine, query)}


def audits(engine: Engine, benchmark_name: str) -> dict[tuple[str, str], Row]:
    """Return the last audit of each task by `stackrank validate --attack`, in any version: (name, digest) -> audit."""
    query = (
        select(TASK.c.name, TASK.c.digest, TASK.c.audit)
        .join(BENCHMARK)
        .where(BENCHMARK.c.name == storable_text(benchmark_name), TASK.c.audit.is_not(None))
        .order_by(BENCHMARK.c.id)
    )
    return {(row["name"], row["digest"]): row["audit"] for row in fetch(engine, query)}


def resolved_by(engine: Engine, benchmark_name: str, agent: str) -> dict[tuple[str, str], tuple[int, int]]:
    """Count an agent's episodes of each task, in any version of a benchmark.

    Maps (task name, digest) to (resolved episodes, resolved and unresolved episodes).
    """
    e = EPISODE.c
    resolved = func.count().filter(e.verdict == "resolved")
    query = (
        select(TASK.c.name, TASK.c.digest, resolved.label("resolved"), func.count().label("played"))
        .select_from(EPISODE)
        .join(TASK, TASK.c.id == e.task_id)
        .join(BENCHMARK, BENCHMARK.c.id == TASK.c.benchmark_id)
        .join(ENTRANT, ENTRANT.c.id == e.entrant_id)
        .where(BENCHMARK.c.name == storable_text(benchmark_name), ENTRANT.c.agent == agent)
        .where(e.counted, e.verdict.in_(("resolved", "unresolved")))
        .group_by(TASK.c.name, TASK.c.digest)
    )
    return {(row["name"], row["digest"]): (row["resolved"], row["played"]) for row in fetch(engine, query)}


def task(engine: Engine, task_id: int) -> TaskRow:
    """One task with all its columns and its benchmark's name. Raises `NotFound`."""
    query = select(TASK, BENCHMARK.c.name.label("benchmark")).join(BENCHMARK).where(TASK.c.id == parse_id(task_id))
    row = fetch_one(engine, query, TaskRow)
    if row is None:
        raise NotFound(f"There is no task {task_id}: `stackrank tasks BENCHMARK` lists them.")
    return row


def entrants(engine: Engine, *, name: str | None = None) -> list[Row]:
    """Return the entrants, newest first, each with its number of episodes. `name`: only those with this name."""
    e = EPISODE.c
    count = select(func.count()).where(e.entrant_id == ENTRANT.c.id, e.counted).scalar_subquery()
    query = select(ENTRANT, count.label("episodes")).order_by(ENTRANT.c.id.desc())
    return fetch(engine, query if name is None else query.where(ENTRANT.c.name == storable_text(name)))
