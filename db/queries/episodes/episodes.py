"""Queries about episodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict

from sqlalchemy import Engine, Select, func, or_, select
from sqlalchemy.sql import ColumnElement
from sqlalchemy.sql.util import find_tables

from stackrank.db.connection.errors import no_episode
from stackrank.db.connection.transactions import BENCHMARK, ENTRANT, EPISODE, EPISODE_TOOL, RUN, TASK
from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope
from stackrank.db.queries.episodes.verdicts import FaultRow, fault_verdicts
from stackrank.db.queries.reading import Json, Row, as_list, fetch, fetch_one, parse_id
from stackrank.db.queries.runs import find_run_id, has_tag
from stackrank.storable import storable_text
from stackrank.terms import UNKNOWN, Milestone, Verdict

_E = EPISODE.c
_SUMMARY_COLUMNS = [column for column in _E if column.name not in {"diff", "score", "usage", "created_at"}]
_NAMES = (
    TASK.c.name.label("task"),
    ENTRANT.c.name.label("entrant"),
    ENTRANT.c.model,
    ENTRANT.c.tools,
    RUN.c.name.label("run"),
)


class EpisodeSummary(TypedDict):
    """An episode with the names of its task, entrant and run, but without diff and score."""

    id: int
    run_id: int
    task_id: int
    entrant_id: int
    attempt: int
    try_number: int
    """How often the attempt was begun, because earlier tries ended in an infrastructure error."""
    counted: bool
    """Whether rates count it. Tries that were repeated are not counted."""
    status: str
    verdict: str
    """`resolved`, `unresolved`, `error`, or empty before there is one."""
    sealed: int
    """How strongly a resolved verdict is sealed, in bits: it could be forged by chance once in 2 ** sealed."""
    mended: int
    """How many of the task's `faults_total` faults are mended."""
    faults_total: int
    unverified: bool
    """Whether the verdict rests on a run of the tests alone."""
    stop_reason: str
    failure_point: str
    failure_step: int | None
    tampered: bool
    steps: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    tokens_reasoning: int
    cost_usd: float | None
    env_ms: float
    """Time in tools."""
    model_ms: float
    """Time in requests to models."""
    score_ms: float
    """Time that the verdict took."""
    wall_s: float
    machine_load: float | None
    """Processes that ran or waited for a processor, per processor of the machine, in the minute before the verdict."""
    tests_passed: int
    tests_failed: int
    error: str
    error_class: str
    at_reproduced: int | None
    """The step that reached this milestone first, as for the other columns `at_...`."""
    at_localized: int | None
    at_breakpoint: int | None
    at_inspected: int | None
    at_edited: int | None
    at_improved: int | None
    at_solved: int | None
    sandbox: str
    tags: list[str]
    claimed_by: str
    alive_at: str | None
    interruptions: int
    replayed: str
    replayed_at: str | None
    started_at: str | None
    ended_at: str | None
    task: str
    entrant: str
    model: str
    tools: str
    run: str


class EpisodeRow(EpisodeSummary):
    """An episode with details of its task, entrant and run. `milestones`: name -> the step that reached it."""

    diff: str
    score: Json
    usage: Json
    created_at: str | None
    task_title: str
    statement: str
    category: str
    difficulty: str
    faults: list[Json]
    fix: str
    agent: str
    agent_version: str
    tool_list: list[str]
    run_status: str
    prefect_flow_run_id: str
    benchmark: str
    milestones: dict[str, int]
    by_fault: list[FaultRow]
    """The verdict on each fault; empty for a task with one fault."""


def _with_names(*columns: Any) -> Select[Any]:
    return select(*columns, *_NAMES).select_from(EPISODE).join(TASK).join(ENTRANT).join(RUN, RUN.c.id == _E.run_id)


def episode_conditions(
    engine: Engine,
    run: int | str | None = None,
    *,
    verdict: str | Iterable[str] | None = None,
    entrant: str | Iterable[str] | None = None,
    entrant_id: int | None = None,
    task: str | Iterable[str] | None = None,
    task_id: int | None = None,
    stop_reason: str | Iterable[str] | None = None,
    failure_point: str | Iterable[str] | None = None,
    status: str | Iterable[str] | None = None,
    tool: str | Iterable[str] | None = None,
    text: str | None = None,
    steps_min: int | None = None,
    steps_max: int | None = None,
    cost_min: float | None = None,
    cost_max: float | None = None,
    tags: str | Iterable[str] = (),
    counted: bool | None = True,
    scope: Scope | None = None,
) -> list[ColumnElement[bool]]:
    """Return the conditions of `episodes` and of `count_episodes`. Raises `NotFound` for an unknown run.

    Filters take one value or several. `tool`: a tool that a step used. `text`: occurs in the task's name or title, or
    in the error. `counted`: None includes tries that were repeated. `scope`: only episodes of the runs that it
    asks for.
    """
    conditions: list[ColumnElement[bool]] = []
    if run is not None:
        conditions.append(_E.run_id == find_run_id(engine, run))
    if scope is not None and (run_ids := scope.run_ids(engine)) is not None:
        conditions.append(_E.run_id.in_(run_ids))
    lists: tuple[tuple[ColumnElement[Any], str | Iterable[str] | None], ...] = (
        (_E.verdict, verdict),
        (_E.stop_reason, stop_reason),
        (_E.failure_point, failure_point),
        (_E.status, status),
        (ENTRANT.c.name, entrant),
        (TASK.c.name, task),
    )
    conditions += [column.in_(values) for column, choices in lists if (values := as_list(choices))]
    equals = ((_E.entrant_id, entrant_id), (_E.task_id, task_id), (_E.counted, counted))
    conditions += [column == value for column, value in equals if value is not None]
    if tools := as_list(tool):
        conditions.append(_E.id.in_(select(EPISODE_TOOL.c.episode_id).where(EPISODE_TOOL.c.tool.in_(tools))))
    if text:
        searched = (TASK.c.name, TASK.c.title, _E.error)
        conditions.append(or_(*(column.icontains(storable_text(text), autoescape=True) for column in searched)))
    if steps_min is not None:
        conditions.append(_E.steps >= steps_min)
    if steps_max is not None:
        conditions.append(_E.steps <= steps_max)
    if cost_min is not None:
        conditions.append(_E.cost_usd >= cost_min)
    if cost_max is not None:
        conditions.append(_E.cost_usd <= cost_max)
    conditions += [has_tag(engine, tag, _E.tags) for tag in as_list(tags)]
    return conditions


def episodes(
    engine: Engine,
    /,
    run: int | str | None = None,
    *,
    after_id: int | None = None,
    limit: int = 100,
    newest_first: bool = False,
    extra_conditions: Iterable[ColumnElement[bool]] = (),
    **filters: Any,
) -> list[EpisodeSummary]:
    """Return episodes of a run (None: of all runs) by id, with the names of task, entrant and run; no diff, no score.

    `filters`: as `episode_conditions` takes them. `after_id` is the id of the last episode on the previous page.
    Raises `NotFound` for an unknown run.
    """
    conditions = [*extra_conditions, *episode_conditions(engine, run, **filters)]
    if after_id is not None:
        conditions.append(_E.id < after_id if newest_first else _E.id > after_id)
    order = _E.id.desc() if newest_first else _E.id
    return fetch(engine, _with_names(*_SUMMARY_COLUMNS).where(*conditions).order_by(order).limit(limit), EpisodeSummary)


def count_episodes(
    engine: Engine,
    /,
    run: int | str | None = None,
    *,
    extra_conditions: Iterable[ColumnElement[bool]] = (),
    **filters: Any,
) -> int:
    """Count the episodes that `episodes` returns on all its pages. Raises `NotFound` for an unknown run."""
    conditions = [*extra_conditions, *episode_conditions(engine, run, **filters)]
    tables = {table for condition in conditions for table in find_tables(condition, check_columns=True)}
    query = select(func.count().label("episodes")).select_from(EPISODE)
    for table, column in ((TASK, _E.task_id), (ENTRANT, _E.entrant_id), (RUN, _E.run_id)):
        if table in tables:
            query = query.join(table, table.c.id == column)
    return int(fetch(engine, query.where(*conditions))[0]["episodes"])


def examples(
    engine: Engine,
    failure_point: str | None,
    scope: Scope = DEFAULT_SCOPE,
    *,
    entrant: str | None = None,
    limit: int = 5,
) -> list[EpisodeSummary]:
    """Return the newest episodes that `failure_points` counts under this failure point, which may be `unknown`.

    None: the newest resolved episodes. Rows are as in `episodes`.
    """
    selection = scope.find(engine)
    conditions = [selection.condition, _E.counted, _E.task_id.in_(selection.keys)]
    conditions.append(_E.verdict == (Verdict.RESOLVED if failure_point is None else Verdict.UNRESOLVED))
    if failure_point is not None:
        conditions.append(_E.failure_point == ("" if failure_point == UNKNOWN else storable_text(failure_point)))
    if entrant is not None:
        conditions.append(ENTRANT.c.name == storable_text(entrant))
    return fetch(
        engine, _with_names(*_SUMMARY_COLUMNS).where(*conditions).order_by(_E.id.desc()).limit(limit), EpisodeSummary
    )


def episode(engine: Engine, episode_id: int | str) -> EpisodeRow:
    """Return one episode with its task's statement, faults and fix, its entrant and its run. Raises `NotFound`."""
    number = parse_id(episode_id)
    row = None if number is None else full_episodes(engine, [number]).get(number)
    if row is None:
        raise no_episode(episode_id)
    return row


def full_episodes(engine: Engine, ids: Iterable[int]) -> dict[int, EpisodeRow]:
    """Return several episodes by id, each as `episode` returns it. Unknown ids are left out."""
    columns = (
        TASK.c.title.label("task_title"),
        TASK.c.statement,
        TASK.c.category,
        TASK.c.difficulty,
        TASK.c.faults,
        TASK.c.fix,
        ENTRANT.c.agent,
        ENTRANT.c.agent_version,
        ENTRANT.c.tool_list,
        RUN.c.status.label("run_status"),
        RUN.c.prefect_flow_run_id,
        BENCHMARK.c.name.label("benchmark"),
    )
    query = _with_names(EPISODE, *columns).join(BENCHMARK, BENCHMARK.c.id == TASK.c.benchmark_id)
    rows: Any = {}
    for row in fetch(engine, query.where(_E.id.in_(list(ids))).order_by(_E.id)):
        step_of = {name: row[f"at_{name}"] for name in Milestone}
        milestones = {str(name): index for name, index in step_of.items() if index is not None}
        rows[row["id"]] = {**row, "milestones": milestones, "by_fault": []}
    several = [number for number, row in rows.items() if row["faults_total"] > 1]
    for number, by_fault in (fault_verdicts(engine, several) if several else {}).items():
        rows[number]["by_fault"] = by_fault
    return dict(rows)


def neighbours(engine: Engine, episode_id: int) -> Row:
    """Return the `previous` and `next` counted episodes of the same task and entrant; None if there is none."""
    episode = select(_E.task_id, _E.entrant_id).where(_E.id == episode_id).cte("this")
    query = (
        select(_E.id, _E.run_id, _E.attempt, _E.verdict, RUN.c.name.label("run"))
        .join(episode, (episode.c.task_id == _E.task_id) & (episode.c.entrant_id == _E.entrant_id))
        .join(RUN, RUN.c.id == _E.run_id)
        .where(_E.counted)
    )
    return {
        "previous": fetch_one(engine, query.where(_E.id < episode_id).order_by(_E.id.desc())),
        "next": fetch_one(engine, query.where(_E.id > episode_id).order_by(_E.id)),
    }
