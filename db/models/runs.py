"""The tables. Pure data: no table knows where its rows come from.

Episode rows carry the totals that leaderboards need, so no page aggregates over steps.
Step rows are appended and never rewritten; their long texts are stored as blobs of the run.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Text,
    UniqueConstraint,
    text,
)
from sqlmodel import Field, SQLModel

from stackrank.db.models.columns import Count, counts, json, key, long_text, one_of, packed, ref, when
from stackrank.terms import Distance, EpisodeStatus, ErrorClass, FailurePoint, Milestone, RunStatus, StopReason, Verdict

_TOTALS = (
    "verdict", "failure_point", "sealed", "unverified", "mended", "faults_total", "steps", "tokens_in", "tokens_out",
    "cost_usd", "wall_s",
)  # fmt: skip
"""The columns that leaderboards add up; their two indexes cover these."""
_TOKENS = ("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning")
_COUNTS = (
    "failure_step", "sealed", "mended", "faults_total", "steps", *_TOKENS, "tests_passed", "tests_failed",
    "interruptions",
)  # fmt: skip


class Benchmark(SQLModel, table=True):
    """One version of a benchmark: a set of tasks with one digest."""

    __table_args__ = (UniqueConstraint("name", "digest"), counts("tasks_total", "tasks_valid"))

    id: int | None = key()
    # The name of the set. In a family of sets, the family comes first, as in `repo/shop` and `swebench/owner/name`.
    name: str
    digest: str
    license: str = ""
    source: str = ""
    tasks_total: int = 0
    created_at: datetime | None = when()
    # The result of the last `stackrank validate`.
    validated_at: datetime | None = when()
    tasks_valid: int | None = None
    # How often verdicts are wrong, as last measured: {"digest", "measured_on", "false_accepts", "false_rejects"}, where
    # each of the two is {"changes", "errors", "tasks", "authors", "rate", "low", "high"}.
    rates: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True), nullable=True))


class Task(SQLModel, table=True):
    """One version of a task, with what queries need. What it takes to run the task stays in the benchmark."""

    __table_args__ = (
        UniqueConstraint("benchmark_id", "name"),
        counts("validated_rounds", "tests_deciding", "tests_covered"),
    )

    id: int | None = key()
    benchmark_id: int = ref("benchmark.id")
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
    # The small text files as the agent first sees them: {path: text}. They are for display, not for playing.
    files: dict[str, str] = json()
    # The result of the last `stackrank validate`, and for how many rounds in a row it held.
    valid: bool | None = None
    invalid_reason: str = ""
    validated_rounds: int = 0
    validated_at: datetime | None = when()
    # How many test functions decide, and how many of those have an expectation that verdicts contradict. None: unknown.
    tests_deciding: int | None = None
    tests_covered: int | None = None
    # The difficulty that `stackrank validate` measured (`env.difficulty`), with the label that follows from it.
    measured: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True), nullable=True))
    # The result of the last `stackrank validate --attack`: {"tried", "killed", "wrong": [{"kind", "diff", ...}],
    # "undecided": [diff]}.
    audit: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True), nullable=True))


class Entrant(SQLModel, table=True):
    """An agent, its model and its tool set: what a leaderboard ranks."""

    id: int | None = key()
    digest: str = Field(unique=True)
    # The name on boards, unique among entrants. Of several that are called the same, the newest has just that name.
    name: str = Field(index=True)
    # What the specification calls the entrant.
    called: str = Field(default="", index=True)
    # True if it is not ranked and does not compete, but shows what numbers mean (the known fix, chance, a person).
    reference: bool = False
    agent: str
    agent_version: str = ""
    model: str = ""
    tools: str = ""
    tool_list: list[str] = json(list)
    # {tool: version}
    tool_versions: dict[str, str] = json()
    config: dict[str, Any] = json()
    created_at: datetime | None = when()


class Run(SQLModel, table=True):
    """A matrix of tasks x entrants x attempts."""

    __table_args__ = (one_of("status", RunStatus), counts("episodes_total"))

    id: int | None = key()
    name: str = Field(index=True)
    benchmark_id: int = ref("benchmark.id", index=True)
    status: RunStatus = Field(default=RunStatus.PENDING, sa_column=Column(Text, nullable=False, index=True))
    reason: str = long_text()
    leaderboard: str = Field(default="", index=True)
    # What links runs over time: the leaderboard, else the schedule, else the name in the specification.
    series: str = Field(default="", index=True)
    # In the form of `db.writes.conditions`. Runs are pooled only if their digests are equal.
    conditions: dict[str, Any] = json()
    conditions_digest: str = ""
    owner: str = ""
    project: str = ""
    tags: list[str] = json(list)
    spec: dict[str, Any] = json()
    versions: dict[str, Any] = json()
    seed: int = Field(default=0, sa_type=BigInteger)
    episodes_total: int = 0
    # The deployment that started the run; empty for a run that was started by hand.
    schedule: str = Field(default="", index=True)
    # What got worse since the leaderboard's previous run: [{"entrant", "what", "sentence", ...}].
    regressions: list[dict[str, Any]] = json(list)
    # The endpoints that the run waits for: {address: `db.queries.runs.Outage`}.
    outages: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True), nullable=True))
    # Whether an operator has paused the run: episodes in progress go on, and no further one starts.
    paused: bool = False
    # How often a supervisor resumed the run after it had ended with errors.
    auto_resumes: int = 0
    prefect_flow_run_id: str = ""
    host: str = ""
    created_at: datetime | None = when()
    started_at: datetime | None = when()
    ended_at: datetime | None = when()
    # Written every few seconds by the living owner of the run; an old time means that the owner is gone.
    heartbeat_at: datetime | None = when()


class Episode(SQLModel, table=True):
    """One entrant, one task, one attempt, one verdict.

    A try that ended in `error` or could not be continued stays, with `counted` false; the partial unique index
    below enforces one counted verdict per (run, task, entrant, attempt).
    """

    __table_args__ = (
        UniqueConstraint("run_id", "task_id", "entrant_id", "attempt", "try_number"),
        one_of("status", EpisodeStatus),
        one_of("verdict", ["", *Verdict]),
        one_of("stop_reason", ["", *StopReason]),
        one_of("failure_point", ["", *FailurePoint]),
        one_of("error_class", ["", *ErrorClass]),
        counts("attempt", "try_number", *_COUNTS, *(f"at_{name}" for name in Milestone)),
        CheckConstraint("(status = 'done') = (verdict <> '')", name="done_has_verdict"),
        CheckConstraint("mended <= faults_total AND faults_total > 0", name="mended_of_faults"),
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
        # Covers queries over many runs, grouped by entrant and task: the index has that order, so nothing is sorted.
        Index(
            "ix_episode_cells",
            "entrant_id",
            "task_id",
            "run_id",
            "counted",
            *_TOTALS,
            *(f"at_{name}" for name in Milestone),
        ),
        # Finds the next episode and those that are being played: queried before every episode.
        Index(
            "ix_episode_open",
            "run_id",
            "status",
            "id",
            sqlite_where=text("status <> 'done'"),
            postgresql_where=text("status <> 'done'"),
        ),
        # Finds unfinished episodes that were given back. Only they and running ones have a cost but no verdict yet.
        Index(
            "ix_episode_left",
            "run_id",
            sqlite_where=text("status = 'pending' AND interruptions > 0"),
            postgresql_where=text("status = 'pending' AND interruptions > 0"),
        ),
        # Finds the previous and the next episode of the same task and entrant.
        Index("ix_episode_task_entrant", "task_id", "entrant_id"),
    )

    id: int | None = key()
    run_id: int = ref("run.id")
    task_id: int = ref("task.id")
    entrant_id: int = ref("entrant.id", index=True)
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
    # How strongly a resolved verdict is sealed, in bits; 0: not sealed.
    sealed: int = 0
    # How many of the task's faults are mended, and how many it has. Their share is the outcome that boards count.
    mended: int = 0
    faults_total: int = 1
    # Whether it is resolved by a run of the tests alone, which a forger can pass too.
    unverified: bool = False
    steps: int = 0
    tokens_in: int = Field(default=0, sa_type=Count)
    tokens_out: int = Field(default=0, sa_type=Count)
    # These are included in tokens_in and tokens_out.
    tokens_cached: int = Field(default=0, sa_type=Count)
    tokens_reasoning: int = Field(default=0, sa_type=Count)
    # None: the model's price is unknown, which is not the same as free.
    cost_usd: float | None = None
    # Tokens and cost per model, if an agent uses several: {model: {"tokens_in", ..., "cost_usd"}}.
    usage: dict[str, Any] = json()
    env_ms: float = 0.0
    model_ms: float = 0.0
    score_ms: float = 0.0
    wall_s: float = 0.0
    # How busy the machine was when the verdict was taken (`host.load`). None: unknown, or there is no verdict.
    machine_load: float | None = None
    tests_passed: int = 0
    tests_failed: int = 0
    # For `error` verdicts: one sentence, and who is responsible (`ErrorClass`).
    error: str = long_text()
    error_class: str = ""
    # The agent's work as a unified diff, limited to what it may edit.
    diff: str = long_text()
    # What the scorer saw: {"tests": {id: outcome}, "notes": [str], ...}
    score: dict[str, Any] = json()
    # The step at which each milestone was first reached.
    at_reproduced: int | None = None
    at_localized: int | None = None
    at_breakpoint: int | None = None
    at_inspected: int | None = None
    at_edited: int | None = None
    at_improved: int | None = None
    at_solved: int | None = None
    sandbox: str = ""
    tags: list[str] = json(list)
    # The worker that plays it, and when it was last heard of: an old time means that the episode was cut off.
    claimed_by: str = ""
    alive_at: datetime | None = when()
    # How often it was cut off and continued.
    interruptions: int = 0
    # The result of the last `stackrank replay`: `same`, `same but for ...` or where it differed. Empty: none was made.
    replayed: str = ""
    replayed_at: datetime | None = when()
    created_at: datetime | None = when()
    started_at: datetime | None = when()
    ended_at: datetime | None = when()


class Step(SQLModel, table=True):
    """One action and its observation. Index 0 is the reset: no tool, and the observation that an agent starts from."""

    __table_args__ = (
        one_of("distance", ["", *Distance]),
        counts('"index"', *_TOKENS, "distance_lines"),
        {"postgresql_partition_by": "RANGE (episode_id)"},
    )

    # The pair is the key: a trace is one range of keys, however many episodes there are.
    episode_id: int = ref("episode.id", primary_key=True)
    index: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    tool: str = ""
    arguments: dict[str, Any] = packed(dict)
    thought: str = packed(str)
    observation: str = packed(str)
    ok: bool = True
    # Where the program and the episode stand: file, line, function, depth, exception, tests, edited, ...
    state: dict[str, Any] = packed(dict)
    env_ms: float = 0.0
    model_ms: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    tokens_reasoning: int = 0
    cost_usd: float | None = None
    # The requests to models for this step and their answers, as sent over the wire; [] if there were none.
    exchanges: list[dict[str, Any]] = packed(list)
    # Which milestones this step was the first to reach.
    milestones: list[str] = packed(list)
    # How near the step came to the fault: `line`, `function`, `file`, `elsewhere`; empty if it was at no place in code.
    distance: str = ""
    # Lines to the nearest faulty line, in the same file.
    distance_lines: int | None = None
    created_at: datetime | None = when()


class Blob(SQLModel, table=True):
    """A long text, or a long part of JSON, of one or many steps of a run; it is deleted with the run."""

    run_id: int = ref("run.id", primary_key=True)
    # The digest of the content, and the content as `db.texts` stores it.
    digest: bytes = Field(primary_key=True)
    content: bytes
