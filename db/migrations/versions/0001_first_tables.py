"""The first schema.

A later migration that recreates the table `episode` in SQLite must also recreate its triggers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

from stackrank.db.migrations.counter_triggers import create_postgresql_triggers, create_sqlite_triggers

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True)
TOKENS = ("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning")
MILESTONES = (
    "at_reproduced", "at_localized", "at_breakpoint", "at_inspected", "at_edited", "at_improved", "at_solved"
)  # fmt: skip
EPISODE_COUNTS = (
    "attempt", "try_number", "failure_step", "sealed", "mended", "faults_total", "steps", *TOKENS, "tests_passed",
    "tests_failed", "interruptions", *MILESTONES,
)  # fmt: skip
FAILURE_POINTS = (
    "", "never_reproduced", "never_localized", "localized_not_edited", "wrong_location", "wrong_fix", "regression",
    "broke_syntax", "looped", "malformed_actions", "out_of_budget", "broke_sandbox", "tampered",
)  # fmt: skip
STOP_REASONS = (
    "", "submitted", "solved", "step_limit", "token_limit", "cost_limit", "time_limit", "context_limit",
    "agent_gave_up", "refused", "malformed_actions", "sandbox_lost", "cancelled", "decided", "error",
)  # fmt: skip
LABELS = (
    "disputed", "benchmark_bug", "unclear_statement", "flaky", "wrong_verdict", "exploit", "instructive",
)  # fmt: skip
TOTALS = (
    "verdict", "failure_point", "sealed", "unverified", "mended", "faults_total", "steps", "tokens_in", "tokens_out",
    "cost_usd", "wall_s",
)  # fmt: skip


def upgrade() -> None:
    _create_results()
    _create_trajectories()
    _create_sums()
    _create_remarks()
    _create_proposals()
    if op.get_bind().dialect.name == "postgresql":
        op.execute("CREATE TABLE step_0 PARTITION OF step FOR VALUES FROM (0) TO (100000)")
        create_postgresql_triggers()
    else:
        create_sqlite_triggers()


def _create_results() -> None:
    """Create the tables of benchmarks, tasks, entrants, runs and episodes."""
    _table(
        "benchmark",
        _columns(KEY, "id"),
        _columns(sa.String(), "name", "digest", "license", "source"),
        _columns(sa.Integer(), "tasks_total"),
        _columns(TIME, "created_at", "validated_at", nullable=True),
        _columns(sa.Integer(), "tasks_valid", nullable=True),
        _columns(sa.JSON(), "rates", nullable=True),
        unique=("name", "digest"),
        counts=("tasks_total", "tasks_valid"),
    )
    _table(
        "entrant",
        _columns(KEY, "id"),
        _columns(sa.String(), "digest", "name", "called"),
        _columns(sa.Boolean(), "reference"),
        _columns(sa.String(), "agent", "agent_version", "model", "tools"),
        _columns(sa.JSON(), "tool_list", "tool_versions", "config"),
        _columns(TIME, "created_at", nullable=True),
        unique=("digest",),
    )
    _indexes("entrant", "called", "name")
    _table(
        "run",
        _columns(KEY, "id"),
        _columns(sa.String(), "name"),
        _columns(KEY, "benchmark_id"),
        _columns(sa.Text(), "status", "reason"),
        _columns(sa.String(), "leaderboard", "series"),
        _columns(sa.JSON(), "conditions"),
        _columns(sa.String(), "conditions_digest", "owner", "project"),
        _columns(sa.JSON(), "tags", "spec", "versions"),
        _columns(sa.BigInteger(), "seed"),
        _columns(sa.Integer(), "episodes_total"),
        _columns(sa.String(), "schedule"),
        _columns(sa.JSON(), "regressions"),
        _columns(sa.JSON(), "outages", nullable=True),
        _columns(sa.Boolean(), "paused"),
        _columns(sa.Integer(), "auto_resumes"),
        _columns(sa.String(), "prefect_flow_run_id", "host"),
        _columns(TIME, "created_at", "started_at", "ended_at", "heartbeat_at", nullable=True),
        references={"benchmark_id": "benchmark"},
        counts=("episodes_total",),
        vocabularies={
            "status": ("pending", "running", "finished", "cancelled", "failed"),
        },
    )
    _indexes("run", "benchmark_id", "leaderboard", "name", "schedule", "series", "status")
    _table(
        "task",
        _columns(KEY, "id", "benchmark_id"),
        _columns(sa.String(), "name", "title"),
        _columns(sa.Text(), "statement"),
        _columns(sa.String(), "category", "difficulty", "digest"),
        _columns(sa.JSON(), "tags", "faults"),
        _columns(sa.Text(), "fix"),
        _columns(sa.JSON(), "files"),
        _columns(sa.Boolean(), "valid", nullable=True),
        _columns(sa.String(), "invalid_reason"),
        _columns(sa.Integer(), "validated_rounds"),
        _columns(TIME, "validated_at", nullable=True),
        _columns(sa.Integer(), "tests_deciding", "tests_covered", nullable=True),
        _columns(sa.JSON(), "measured", "audit", nullable=True),
        unique=("benchmark_id", "name"),
        references={"benchmark_id": "benchmark"},
        counts=("validated_rounds", "tests_deciding", "tests_covered"),
    )
    _indexes("task", "name")
    _table(
        "episode",
        _columns(KEY, "id", "run_id", "task_id", "entrant_id"),
        _columns(sa.Integer(), "attempt", "try_number"),
        _columns(sa.Boolean(), "counted"),
        _columns(sa.Text(), "status"),
        _columns(sa.String(), "verdict", "stop_reason", "failure_point"),
        _columns(sa.Integer(), "failure_step", nullable=True),
        _columns(sa.Boolean(), "tampered"),
        _columns(sa.Integer(), "sealed", "mended", "faults_total"),
        _columns(sa.Boolean(), "unverified"),
        _columns(sa.Integer(), "steps"),
        _columns(sa.BigInteger(), *TOKENS),
        _columns(sa.Float(), "cost_usd", nullable=True),
        _columns(sa.JSON(), "usage"),
        _columns(sa.Float(), "env_ms", "model_ms", "score_ms", "wall_s"),
        _columns(sa.Float(), "machine_load", nullable=True),
        _columns(sa.Integer(), "tests_passed", "tests_failed"),
        _columns(sa.Text(), "error"),
        _columns(sa.String(), "error_class"),
        _columns(sa.Text(), "diff"),
        _columns(sa.JSON(), "score"),
        _columns(sa.Integer(), *MILESTONES, nullable=True),
        _columns(sa.String(), "sandbox"),
        _columns(sa.JSON(), "tags"),
        _columns(sa.String(), "claimed_by"),
        _columns(TIME, "alive_at", nullable=True),
        _columns(sa.Integer(), "interruptions"),
        _columns(sa.String(), "replayed"),
        _columns(TIME, "replayed_at", "created_at", "started_at", "ended_at", nullable=True),
        unique=("run_id", "task_id", "entrant_id", "attempt", "try_number"),
        references={"task_id": "task", "run_id": "run", "entrant_id": "entrant"},
        counts=EPISODE_COUNTS,
        vocabularies={
            "error_class": ("", "machine", "endpoint", "environment", "ours"),
            "failure_point": FAILURE_POINTS,
            "status": ("pending", "running", "done", "not_played"),
            "stop_reason": STOP_REASONS,
            "verdict": ("", "resolved", "unresolved", "error"),
        },
        rules=[
            sa.CheckConstraint("(status = 'done') = (verdict <> '')", name=op.f("ck_episode_done_has_verdict")),
            sa.CheckConstraint("mended <= faults_total AND faults_total > 0", name=op.f("ck_episode_mended_of_faults")),
        ],
    )
    _index("episode", "cells", "entrant_id", "task_id", "run_id", "counted", *TOTALS, *MILESTONES)
    _index("episode", "counted", "run_id", "task_id", "entrant_id", "attempt", unique=True, predicate="counted")
    _indexes("episode", "entrant_id")
    _index("episode", "left", "run_id", predicate="status = 'pending' AND interruptions > 0")
    _index("episode", "open", "run_id", "status", "id", predicate="status <> 'done'")
    _index("episode", "task_entrant", "task_id", "entrant_id")
    _index("episode", "totals", "run_id", "counted", "entrant_id", "task_id", *TOTALS)
    _table(
        "change",
        _columns(sa.String(), "digest"),
        _columns(sa.LargeBinary(), "content"),
        key=("digest",),
    )
    _table(
        "verdicts",
        _columns(KEY, "id", "episode_id"),
        _columns(sa.Boolean(), "of_record"),
        _columns(sa.String(), "task_digest", "workspace", "change", "scorer", "environment"),
        _columns(sa.Boolean(), "resolved", "tampered"),
        _columns(sa.Integer(), "sealed"),
        _columns(sa.Text(), "unsealed"),
        _columns(sa.JSON(), "faults", "tests", "notes"),
        _columns(TIME, "created_at", nullable=True),
        references={"episode_id": "episode"},
        counts=("sealed",),
    )
    _index(
        "verdicts",
        "again",
        "episode_id",
        "scorer",
        "task_digest",
        "environment",
        unique=True,
        predicate="NOT of_record",
    )
    _indexes("verdicts", "episode_id")
    _index("verdicts", "of_record", "episode_id", unique=True, predicate="of_record")
    _table(
        "fault_verdict",
        _columns(KEY, "episode_id"),
        _columns(sa.String(), "name"),
        _columns(sa.Boolean(), "mended"),
        _columns(sa.Integer(), "sealed"),
        _columns(sa.Text(), "unsealed"),
        _columns(sa.Integer(), "step", nullable=True),
        _columns(sa.BigInteger(), "tokens", nullable=True),
        _columns(sa.Float(), "cost_usd", nullable=True),
        key=("episode_id", "name"),
        references={"episode_id": "episode"},
        counts=("sealed", "step", "tokens"),
        sqlite_with_rowid=False,
    )


def _create_trajectories() -> None:
    """Create the tables of steps and their long texts."""
    _table(
        "step",
        _columns(KEY, "episode_id"),
        _columns(sa.Integer(), "index"),
        _columns(sa.String(), "tool"),
        _columns(sa.LargeBinary(), "arguments", "thought", "observation"),
        _columns(sa.Boolean(), "ok"),
        _columns(sa.LargeBinary(), "state"),
        _columns(sa.Float(), "env_ms", "model_ms"),
        _columns(sa.Integer(), *TOKENS),
        _columns(sa.Float(), "cost_usd", nullable=True),
        _columns(sa.LargeBinary(), "exchanges", "milestones"),
        _columns(sa.String(), "distance"),
        _columns(sa.Integer(), "distance_lines", nullable=True),
        _columns(TIME, "created_at", nullable=True),
        key=("episode_id", "index"),
        references={"episode_id": "episode"},
        counts=('"index"', *TOKENS, "distance_lines"),
        vocabularies={
            "distance": ("", "line", "function", "file", "elsewhere"),
        },
        postgresql_partition_by="RANGE (episode_id)",
    )
    _table(
        "blob",
        _columns(KEY, "run_id"),
        _columns(sa.LargeBinary(), "digest", "content"),
        key=("run_id", "digest"),
        references={"run_id": "run"},
    )


def _create_sums() -> None:
    """Create the tables that are derived from episodes and steps."""
    _table(
        "tooluse",
        _columns(KEY, "episode_id"),
        _columns(sa.String(), "tool"),
        _columns(KEY, "run_id", "entrant_id", "task_id"),
        _columns(sa.Integer(), "calls", "searching", "diagnosing", "repairing", "failed"),
        _columns(sa.Float(), "env_ms"),
        _columns(sa.BigInteger(), "tokens_in", "tokens_out"),
        _columns(sa.Float(), "cost_usd", nullable=True),
        key=("episode_id", "tool"),
        references={"run_id": "run", "episode_id": "episode", "task_id": "task", "entrant_id": "entrant"},
        counts=("calls", "searching", "diagnosing", "repairing", "failed", "tokens_in", "tokens_out"),
    )
    use = ("calls", "searching", "diagnosing", "repairing", "failed", "env_ms", "tokens_in", "tokens_out", "cost_usd")
    _index("tooluse", "totals", "run_id", "entrant_id", "tool", "task_id", *use)
    _table(
        "episode_tool",
        _columns(sa.String(), "tool"),
        _columns(KEY, "episode_id"),
        key=("tool", "episode_id"),
        references={"episode_id": "episode"},
        sqlite_with_rowid=False,
    )
    _indexes("episode_tool", "episode_id")
    _table(
        "tally",
        _columns(KEY, "run_id"),
        _columns(sa.LargeBinary(), "content"),
        key=("run_id",),
        references={"run_id": "run"},
    )
    _table(
        "counter",
        _columns(KEY, "run_id", "entrant_id"),
        _columns(sa.Integer(), "slot"),
        _columns(sa.Boolean(), "counted"),
        _columns(sa.String(), "status", "verdict", "error_class", "cause"),
        _columns(sa.BigInteger(), "episodes", "sealed", "unverified", "priced"),
        _columns(sa.Float(), "cost_usd", "wall_s"),
        _columns(
            sa.BigInteger(),
            "tokens_in",
            "tokens_out",
            *(f"within_{bound}" for bound in (1, 5, 15, 60, 300, 900, 1800, 3600)),
        ),
        key=("run_id", "entrant_id", "slot", "counted", "status", "verdict", "error_class", "cause"),
    )


def _create_remarks() -> None:
    """Create the tables of notes, labels and saved views."""
    _table(
        "note",
        _columns(KEY, "id", "run_id"),
        _columns(KEY, "episode_id", nullable=True),
        _columns(sa.Integer(), "step_index", nullable=True),
        _columns(sa.String(), "author"),
        _columns(sa.Text(), "body"),
        _columns(TIME, "created_at", nullable=True),
        references={"run_id": "run", "episode_id": "episode"},
        counts=("step_index",),
    )
    _indexes("note", "episode_id", "run_id")
    _table(
        "act",
        _columns(KEY, "id", "run_id"),
        _columns(sa.String(), "kind"),
        _columns(sa.JSON(), "change"),
        _columns(sa.String(), "person"),
        _columns(sa.Text(), "why"),
        _columns(TIME, "created_at", nullable=True),
        references={"run_id": "run"},
        vocabularies={
            "kind": ("pause", "resume", "set", "retry"),
        },
    )
    _indexes("act", "run_id")
    _table(
        "label",
        _columns(KEY, "id", "task_id"),
        _columns(KEY, "episode_id", nullable=True),
        _columns(sa.String(), "label"),
        _columns(sa.Boolean(), "is_set"),
        _columns(sa.String(), "person"),
        _columns(sa.Text(), "reason"),
        _columns(TIME, "created_at", nullable=True),
        references={"task_id": "task", "episode_id": "episode"},
        vocabularies={
            "label": LABELS,
        },
    )
    _indexes("label", "episode_id", "task_id")
    _table(
        "saved_view",
        _columns(KEY, "id"),
        _columns(sa.String(), "page", "name"),
        _columns(sa.Text(), "address"),
        _columns(sa.String(), "person"),
        _columns(TIME, "created_at", nullable=True),
    )
    _indexes("saved_view", "page")


def _create_proposals() -> None:
    """Create the tables of proposed fixes and decisions."""
    _table(
        "proposal",
        _columns(KEY, "id", "run_id", "entrant_id", "episode_id"),
        _columns(sa.String(), "repository", "base", "folder", "problem", "title"),
        _columns(sa.JSON(), "tests"),
        _columns(sa.String(), "digest"),
        _columns(sa.Text(), "diff", "test_diff"),
        _columns(sa.JSON(), "evidence"),
        _columns(sa.JSON(), "doubts"),
        _columns(KEY, "replaced_by", nullable=True),
        _columns(TIME, "created_at", nullable=True),
        references={"entrant_id": "entrant", "replaced_by": "proposal", "episode_id": "episode", "run_id": "run"},
    )
    _indexes("proposal", "episode_id", "repository", "run_id")
    _table(
        "decision",
        _columns(KEY, "id", "run_id", "proposal_id"),
        _columns(sa.String(), "digest", "kind"),
        _columns(sa.Text(), "reason"),
        _columns(sa.String(), "person", "seal"),
        _columns(TIME, "created_at", nullable=True),
        references={"proposal_id": "proposal", "run_id": "run"},
        vocabularies={
            "kind": ("approved", "rejected", "comment"),
        },
    )
    _index("decision", "final", "proposal_id", unique=True, predicate="kind <> 'comment'")
    _indexes("decision", "proposal_id", "run_id")


def _columns(kind: Any, *names: str, nullable: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=nullable) for name in names]


def _table(
    table: str,
    *columns: Sequence[sa.Column[Any]],
    key: Sequence[str] = ("id",),
    unique: Sequence[str] = (),
    references: Mapping[str, str] | None = None,
    counts: Sequence[str] = (),
    vocabularies: Mapping[str, Sequence[str]] | None = None,
    rules: Sequence[sa.CheckConstraint] = (),
    **options: Any,
) -> None:
    """Create a table. `references`: column -> table. `counts`: columns that are never negative."""
    constraints: list[Any] = [*rules, sa.PrimaryKeyConstraint(*key, name=f"pk_{table}")]
    if unique:
        constraints.append(sa.UniqueConstraint(*unique, name=f"uq_{table}_{'_'.join(unique)}"))
    for column, target in (references or {}).items():
        constraints.append(sa.ForeignKeyConstraint([column], [f"{target}.id"], name=f"fk_{table}_{column}_{target}"))
    if counts:
        condition = " AND ".join(f"{name} >= 0" for name in counts)
        constraints.append(sa.CheckConstraint(condition, name=op.f(f"ck_{table}_counts")))
    for column, terms in (vocabularies or {}).items():
        condition = f"{column} IN ({', '.join(map(repr, terms))})"
        constraints.append(sa.CheckConstraint(condition, name=op.f(f"ck_{table}_{column}")))
    op.create_table(table, *(column for group in columns for column in group), *constraints, **options)


def _indexes(table: str, *columns: str) -> None:
    """Create an index for each column."""
    for column in columns:
        _index(table, column, column)


def _index(table: str, name: str, *columns: str, unique: bool = False, predicate: str = "") -> None:
    condition = sa.text(predicate) if predicate else None
    op.create_index(
        f"ix_{table}_{name}",
        table,
        list(columns),
        unique=unique,
        sqlite_where=condition,
        postgresql_where=condition,
    )
