"""The tables. Pure data: no table knows where its rows come from.

Episode rows carry the totals that leaderboards need, so no page aggregates over steps.
Step rows are appended and never rewritten.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Text,
    UniqueConstraint,
    text,
)
from sqlmodel import Field, SQLModel

from db.columns import json, long_text, when

# Constraints without a name cannot be dropped by a later migration.
SQLModel.metadata.naming_convention = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class RunStatus(StrEnum):
    """Where a run is in its life."""

    PENDING = "pending"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"


class EpisodeStatus(StrEnum):
    """Where an episode is in its life; only `done` ones have a verdict."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"


class Verdict(StrEnum):
    """What an episode came to. `error`: the infrastructure failed, and no rate counts the episode."""

    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"
    ERROR = "error"


MILESTONES = ("reproduced", "localized", "breakpoint", "inspected", "edited", "improved", "solved")
"""What an episode reaches on its way, in this order if all goes well."""
_TOTALS = ("verdict", "failure_point", "steps", "tokens_in", "tokens_out", "cost_usd", "wall_s")
"""What leaderboards add up; their two indexes cover it."""


class Benchmark(SQLModel, table=True):
    """One version of a benchmark: a set of tasks with one digest."""

    __table_args__ = (UniqueConstraint("name", "digest"),)

    id: int | None = Field(default=None, primary_key=True)
    name: str
    digest: str
    license: str = ""
    source: str = ""
    tasks_total: int = 0
    created_at: datetime | None = when()
    # The result of the last `stackrank validate`.
    validated_at: datetime | None = when()
    tasks_valid: int | None = None


class Task(SQLModel, table=True):
    """One version of a task. What it needs to run stays in the benchmark; this is what is asked about it."""

    __table_args__ = (UniqueConstraint("benchmark_id", "name"),)

    id: int | None = Field(default=None, primary_key=True)
    benchmark_id: int = Field(foreign_key="benchmark.id")
    name: str = Field(index=True)
    title: str = ""
    statement: str = long_text()
    category: str = ""
    difficulty: str = ""
    digest: str = ""
    tags: list[str] = json(list)
    # [{"file": str, "functions": [str], "lines": [int]}], 1-based lines of the file as given.
    faults: list[dict[str, Any]] = json(list)
    fix: str = long_text()
    # The text files as the agent first sees them, as far as they are small: {path: text}. For showing, not for playing.
    files: dict[str, str] = json()
    # The result of the last `stackrank validate`: how many rounds in a row held.
    valid: bool | None = None
    invalid_reason: str = ""
    validated_rounds: int = 0
    validated_at: datetime | None = when()


class Entrant(SQLModel, table=True):
    """An agent, its model and its tool set: what a leaderboard ranks."""

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(unique=True)
    name: str = Field(index=True)
    agent: str
    agent_version: str = ""
    model: str = ""
    tools: str = ""
    tool_list: list[str] = json(list)
    config: dict[str, Any] = json()
    created_at: datetime | None = when()


class Run(SQLModel, table=True):
    """A matrix of tasks x entrants x attempts."""

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(index=True)
    benchmark_id: int = Field(foreign_key="benchmark.id", index=True)
    status: RunStatus = Field(default=RunStatus.PENDING, sa_column=Column(Text, nullable=False, index=True))
    reason: str = long_text()
    leaderboard: str = Field(default="", index=True)
    owner: str = ""
    project: str = ""
    tags: list[str] = json(list)
    spec: dict[str, Any] = json()
    versions: dict[str, Any] = json()
    seed: int = Field(default=0, sa_type=BigInteger)
    episodes_total: int = 0
    # The deployment that started it; empty for a run by hand.
    schedule: str = Field(default="", index=True)
    # What got worse since the leaderboard's run before: [{"entrant", "what", "sentence", ...}].
    regressions: list[dict[str, Any]] = json(list)
    prefect_flow_run_id: str = ""
    host: str = ""
    created_at: datetime | None = when()
    started_at: datetime | None = when()
    ended_at: datetime | None = when()
    # Written every few seconds by the living owner of the run; an old one means the owner is gone.
    heartbeat_at: datetime | None = when()


class Episode(SQLModel, table=True):
    """One entrant, one task, one attempt, one verdict.

    A try that ended in `error` or could not be continued stays, with `counted` false; the partial unique index
    below is what makes "one counted verdict per (run, task, entrant, attempt)" true.
    """

    __table_args__ = (
        UniqueConstraint("run_id", "task_id", "entrant_id", "attempt", "try_number"),
        CheckConstraint("verdict IN ('', 'resolved', 'unresolved', 'error')", name="verdict"),
        CheckConstraint("(status = 'done') = (verdict <> '')", name="done_has_verdict"),
        Index(
            "ix_episode_counted",
            "run_id",
            "task_id",
            "entrant_id",
            "attempt",
            unique=True,
            sqlite_where=text("counted"),
            postgresql_where=text("counted"),
        ),
        # Covers the leaderboard's query, so that it never reads the rows themselves.
        Index(
            "ix_episode_totals",
            "run_id",
            "counted",
            "entrant_id",
            "task_id",
            *_TOTALS,
        ),
        # Covers questions over many runs, grouped by entrant and task: it is in that order, so nothing is sorted.
        Index(
            "ix_episode_cells",
            "entrant_id",
            "task_id",
            "run_id",
            "counted",
            *_TOTALS,
            *(f"at_{name}" for name in MILESTONES),
        ),
        # Who is next, and who plays what: asked before every episode.
        Index(
            "ix_episode_open",
            "run_id",
            "status",
            "id",
            sqlite_where=text("status <> 'done'"),
            postgresql_where=text("status <> 'done'"),
        ),
        # Previous and next episode of the same task and entrant.
        Index("ix_episode_task_entrant", "task_id", "entrant_id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    task_id: int = Field(foreign_key="task.id")
    entrant_id: int = Field(foreign_key="entrant.id", index=True)
    attempt: int = 1
    try_number: int = 1
    counted: bool = True
    status: EpisodeStatus = Field(default=EpisodeStatus.PENDING, sa_column=Column(Text, nullable=False))
    # resolved, unresolved, error; empty until the episode is done.
    verdict: str = ""
    stop_reason: str = ""
    failure_point: str = ""
    failure_step: int | None = None
    tampered: bool = False
    steps: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    # Parts of tokens_in and of tokens_out.
    tokens_cached: int = 0
    tokens_reasoning: int = 0
    # None: the model's price is unknown, which is not the same as free.
    cost_usd: float | None = None
    # The same per model, where an agent uses several: {model: {"tokens_in", ..., "cost_usd"}}.
    usage: dict[str, Any] = json()
    env_ms: float = 0.0
    model_ms: float = 0.0
    score_ms: float = 0.0
    wall_s: float = 0.0
    tests_passed: int = 0
    tests_failed: int = 0
    # One sentence for `error` verdicts.
    error: str = long_text()
    # The agent's work as a unified diff, limited to what it may edit.
    diff: str = long_text()
    # What the scorer saw: {"tests": {id: outcome}, "notes": [str], ...}
    score: dict[str, Any] = json()
    # The step at which each milestone (MILESTONES) was first reached.
    at_reproduced: int | None = None
    at_localized: int | None = None
    at_breakpoint: int | None = None
    at_inspected: int | None = None
    at_edited: int | None = None
    at_improved: int | None = None
    at_solved: int | None = None
    sandbox: str = ""
    tags: list[str] = json(list)
    # Who plays it, and when they were last heard of: an old time means that the episode was cut off.
    claimed_by: str = ""
    alive_at: datetime | None = when()
    # How often it was cut off and continued.
    interruptions: int = 0
    # The last `stackrank replay`: `same`, or at which step it differed. Empty: never replayed.
    replayed: str = ""
    replayed_at: datetime | None = when()
    created_at: datetime | None = when()
    started_at: datetime | None = when()
    ended_at: datetime | None = when()


class Step(SQLModel, table=True):
    """One action and its observation. Index 0 is the reset: no tool, the observation an agent starts from."""

    # The pair is the key: a trace is one range of it, whatever the number of episodes.
    episode_id: int = Field(foreign_key="episode.id", primary_key=True)
    index: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    tool: str = ""
    arguments: dict[str, Any] = json()
    thought: str = long_text()
    observation: str = long_text()
    ok: bool = True
    # Where the program and the episode stand: file, line, function, depth, exception, tests, edited, ...
    state: dict[str, Any] = json()
    env_ms: float = 0.0
    model_ms: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    tokens_reasoning: int = 0
    cost_usd: float | None = None
    # What was asked of models for this step and what they answered, as it went over the wire; [] where nothing was.
    exchanges: list[dict[str, Any]] = json(list)
    # Which milestones this step was the first to reach.
    milestones: list[str] = json(list)
    # How near the step came to the fault: `line`, `function`, `file`, `elsewhere`; empty where it was nowhere.
    distance: str = ""
    # Lines to the nearest faulty line, in the same file.
    distance_lines: int | None = None
    created_at: datetime | None = when()


class ToolUse(SQLModel, table=True):
    """How a resolved or unresolved episode used one tool; written with the verdict, so that no page adds steps up.

    The phases are those of a debugging session: `searching` until the fault was first seen, `diagnosing` from then to
    the first edit there, `repairing` from that edit on; the three add up to `calls`.
    """

    __table_args__ = (
        # Covers the question for a leaderboard's tools, in the order of its groups.
        Index(
            "ix_tooluse_totals",
            "run_id",
            "entrant_id",
            "tool",
            "task_id",
            "calls",
            "searching",
            "diagnosing",
            "repairing",
            "failed",
            "env_ms",
            "tokens_in",
            "tokens_out",
            "cost_usd",
        ),
    )

    episode_id: int = Field(foreign_key="episode.id", primary_key=True)
    tool: str = Field(primary_key=True)
    run_id: int = Field(foreign_key="run.id")
    entrant_id: int = Field(foreign_key="entrant.id")
    task_id: int = Field(foreign_key="task.id")
    calls: int = 0
    searching: int = 0
    diagnosing: int = 0
    repairing: int = 0
    # Calls that came back with `ok` false.
    failed: int = 0
    env_ms: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    # None: a price is unknown.
    cost_usd: float | None = None


class Note(SQLModel, table=True):
    """What a member of the team says about a run, an episode or a step."""

    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="run.id", index=True)
    # Both empty: the note is about the run; `step_index` empty: about the episode.
    episode_id: int | None = Field(default=None, foreign_key="episode.id", index=True)
    step_index: int | None = None
    author: str = ""
    body: str = long_text()
    created_at: datetime | None = when()
