"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "benchmark",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("license", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("tasks_total", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("validated_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tasks_valid", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_benchmark")),
        sa.UniqueConstraint("name", "digest", name=op.f("uq_benchmark_name_digest")),
    )
    op.create_table(
        "entrant",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("agent_version", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("tools", sa.String(), nullable=False),
        sa.Column("tool_list", sa.JSON(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entrant")),
        sa.UniqueConstraint("digest", name=op.f("uq_entrant_digest")),
    )
    op.create_index(op.f("ix_entrant_name"), "entrant", ["name"], unique=False)
    op.create_table(
        "run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("leaderboard", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("project", sa.String(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("versions", sa.JSON(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("episodes_total", sa.Integer(), nullable=False),
        sa.Column("prefect_flow_run_id", sa.String(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmark.id"], name=op.f("fk_run_benchmark_id_benchmark")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_run")),
    )
    op.create_index(op.f("ix_run_benchmark_id"), "run", ["benchmark_id"], unique=False)
    op.create_index(op.f("ix_run_leaderboard"), "run", ["leaderboard"], unique=False)
    op.create_index(op.f("ix_run_name"), "run", ["name"], unique=False)
    op.create_index(op.f("ix_run_status"), "run", ["status"], unique=False)
    op.create_table(
        "task",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("statement", sa.Text(), nullable=False),
        sa.Column("category", sa.String(), nullable=False),
        sa.Column("difficulty", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("faults", sa.JSON(), nullable=False),
        sa.Column("fix", sa.Text(), nullable=False),
        sa.Column("valid", sa.Boolean(), nullable=True),
        sa.Column("invalid_reason", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmark.id"], name=op.f("fk_task_benchmark_id_benchmark")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task")),
        sa.UniqueConstraint("benchmark_id", "name", name=op.f("uq_task_benchmark_id_name")),
    )
    op.create_index(op.f("ix_task_name"), "task", ["name"], unique=False)
    op.create_table(
        "episode",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("try_number", sa.Integer(), nullable=False),
        sa.Column("counted", sa.Boolean(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("stop_reason", sa.String(), nullable=False),
        sa.Column("failure_point", sa.String(), nullable=False),
        sa.Column("failure_step", sa.Integer(), nullable=True),
        sa.Column("tampered", sa.Boolean(), nullable=False),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("env_ms", sa.Float(), nullable=False),
        sa.Column("model_ms", sa.Float(), nullable=False),
        sa.Column("score_ms", sa.Float(), nullable=False),
        sa.Column("wall_s", sa.Float(), nullable=False),
        sa.Column("tests_passed", sa.Integer(), nullable=False),
        sa.Column("tests_failed", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("diff", sa.Text(), nullable=False),
        sa.Column("score", sa.JSON(), nullable=False),
        sa.Column("milestones", sa.JSON(), nullable=False),
        sa.Column("sandbox", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("(status = 'done') = (verdict <> '')", name=op.f("ck_episode_done_has_verdict")),
        sa.CheckConstraint("verdict IN ('', 'resolved', 'unresolved', 'error')", name=op.f("ck_episode_verdict")),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrant.id"], name=op.f("fk_episode_entrant_id_entrant")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_episode_run_id_run")),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_episode_task_id_task")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_episode")),
        sa.UniqueConstraint(
            "run_id",
            "task_id",
            "entrant_id",
            "attempt",
            "try_number",
            name=op.f("uq_episode_run_id_task_id_entrant_id_attempt_try_number"),
        ),
    )
    op.create_index(
        "ix_episode_counted",
        "episode",
        ["run_id", "task_id", "entrant_id", "attempt"],
        unique=True,
        sqlite_where=sa.text("counted"),
        postgresql_where=sa.text("counted"),
    )
    op.create_index(op.f("ix_episode_entrant_id"), "episode", ["entrant_id"], unique=False)
    op.create_index("ix_episode_task_entrant", "episode", ["task_id", "entrant_id"], unique=False)
    op.create_index(
        "ix_episode_totals",
        "episode",
        [
            "run_id",
            "counted",
            "entrant_id",
            "task_id",
            "verdict",
            "failure_point",
            "steps",
            "tokens_in",
            "tokens_out",
            "cost_usd",
            "wall_s",
        ],
        unique=False,
    )
    op.create_table(
        "step",
        sa.Column("episode_id", sa.Integer(), nullable=False),
        sa.Column("index", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("arguments", sa.JSON(), nullable=False),
        sa.Column("thought", sa.Text(), nullable=False),
        sa.Column("observation", sa.Text(), nullable=False),
        sa.Column("ok", sa.Boolean(), nullable=False),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.Column("env_ms", sa.Float(), nullable=False),
        sa.Column("model_ms", sa.Float(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["episode_id"], ["episode.id"], name=op.f("fk_step_episode_id_episode")),
        sa.PrimaryKeyConstraint("episode_id", "index", name=op.f("pk_step")),
    )


def downgrade() -> None:
    for table in ("step", "episode", "task", "run", "entrant", "benchmark"):
        op.drop_table(table)
