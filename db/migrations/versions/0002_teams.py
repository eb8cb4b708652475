"""What a team needs: notes, validation by task, interrupted and replayed episodes, usage per model, milestones."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

MILESTONES = ("reproduced", "localized", "breakpoint", "inspected", "edited", "improved", "solved")
WHEN = sa.DateTime(timezone=True)


def upgrade() -> None:
    for table, columns in added().items():
        for column in columns:
            op.add_column(table, column)
    move_milestones()
    # Not as a batch, which would copy the table and lose its check constraints; SQLite can do this since 3.35.
    op.drop_column("episode", "milestones")
    op.create_index(op.f("ix_run_schedule"), "run", ["schedule"], unique=False)
    cells = ["entrant_id", "task_id", "run_id", "counted", "verdict", "failure_point", "steps", "tokens_in"]
    cells += ["tokens_out", "cost_usd", "wall_s", *(f"at_{name}" for name in MILESTONES)]
    op.create_index("ix_episode_cells", "episode", cells, unique=False)
    unfinished = sa.text("status <> 'done'")
    op.create_index(
        "ix_episode_open",
        "episode",
        ["run_id", "status", "id"],
        unique=False,
        sqlite_where=unfinished,
        postgresql_where=unfinished,
    )
    op.create_table(
        "note",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("episode_id", sa.Integer(), nullable=True),
        sa.Column("step_index", sa.Integer(), nullable=True),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("created_at", WHEN, nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_note_run_id_run")),
        sa.ForeignKeyConstraint(["episode_id"], ["episode.id"], name=op.f("fk_note_episode_id_episode")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_note")),
    )
    op.create_index(op.f("ix_note_run_id"), "note", ["run_id"], unique=False)
    op.create_index(op.f("ix_note_episode_id"), "note", ["episode_id"], unique=False)
    create_tool_use()


def create_tool_use() -> None:
    keys = ("run", "entrant", "task")
    counts = ("calls", "searching", "diagnosing", "repairing", "failed")
    op.create_table(
        "tooluse",
        sa.Column("episode_id", sa.Integer(), nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        *(sa.Column(f"{name}_id", sa.Integer(), nullable=False) for name in keys),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in counts),
        sa.Column("env_ms", sa.Float(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        *(
            sa.ForeignKeyConstraint([f"{name}_id"], [f"{name}.id"], name=op.f(f"fk_tooluse_{name}_id_{name}"))
            for name in ("episode", *keys)
        ),
        sa.PrimaryKeyConstraint("episode_id", "tool", name=op.f("pk_tooluse")),
    )
    covered = ("run_id", "entrant_id", "tool", "task_id", *counts, "env_ms", "tokens_in", "tokens_out", "cost_usd")
    op.create_index("ix_tooluse_totals", "tooluse", list(covered), unique=False)
    repairing, later = 'step."index" >= episode.at_edited', 'step."index" > episode.at_localized'
    op.execute(
        "INSERT INTO tooluse (episode_id, tool, run_id, entrant_id, task_id, calls, searching, diagnosing, repairing,"
        " failed, env_ms, tokens_in, tokens_out, cost_usd) "
        "SELECT step.episode_id, step.tool, episode.run_id, episode.entrant_id, episode.task_id, count(*), "
        f"sum(CASE WHEN {repairing} THEN 0 WHEN {later} THEN 0 ELSE 1 END), "
        f"sum(CASE WHEN {repairing} THEN 0 WHEN {later} THEN 1 ELSE 0 END), "
        f"sum(CASE WHEN {repairing} THEN 1 ELSE 0 END), "
        "sum(CASE WHEN step.ok THEN 0 ELSE 1 END), sum(step.env_ms), sum(step.tokens_in), sum(step.tokens_out), "
        "CASE WHEN count(*) = count(step.cost_usd) THEN sum(step.cost_usd) END "
        "FROM step JOIN episode ON episode.id = step.episode_id "
        "WHERE step.tool <> '' AND episode.counted AND episode.verdict IN ('resolved', 'unresolved') "
        "GROUP BY step.episode_id, step.tool, episode.run_id, episode.entrant_id, episode.task_id"
    )


def added() -> dict[str, list[Any]]:
    def text(name: str) -> Any:
        return sa.Column(name, sa.String(), nullable=False, server_default="")

    def number(name: str) -> Any:
        return sa.Column(name, sa.Integer(), nullable=False, server_default="0")

    def json(name: str, empty: str) -> Any:
        return sa.Column(name, sa.JSON(), nullable=False, server_default=empty)

    def maybe(name: str, kind: Any = None) -> Any:
        return sa.Column(name, kind or sa.Integer(), nullable=True)

    tokens = ("tokens_cached", "tokens_reasoning")
    return {
        "task": [json("files", "{}"), number("validated_rounds"), maybe("validated_at", WHEN)],
        "run": [text("schedule"), json("regressions", "[]")],
        "episode": [
            *map(number, tokens),
            json("usage", "{}"),
            *(maybe(f"at_{name}") for name in MILESTONES),
            json("tags", "[]"),
            text("claimed_by"),
            maybe("alive_at", WHEN),
            number("interruptions"),
            text("replayed"),
            maybe("replayed_at", WHEN),
        ],
        "step": [
            *map(number, tokens),
            json("exchanges", "[]"),
            json("milestones", "[]"),
            text("distance"),
            maybe("distance_lines"),
        ],
    }


def move_milestones() -> None:
    for name in MILESTONES:
        if op.get_bind().dialect.name == "postgresql":
            value = f"CAST(milestones ->> '{name}' AS INTEGER)"
        else:
            value = f"json_extract(milestones, '$.{name}')"
        op.execute(f"UPDATE episode SET at_{name} = {value}")


def downgrade() -> None:
    op.drop_table("tooluse")
    op.drop_table("note")
    op.drop_index(op.f("ix_run_schedule"), "run")
    op.drop_index("ix_episode_cells", "episode")
    op.drop_index("ix_episode_open", "episode")
    op.add_column("episode", sa.Column("milestones", sa.JSON(), nullable=False, server_default="{}"))
    for table, columns in added().items():
        for column in columns:
            op.drop_column(table, column.name)
