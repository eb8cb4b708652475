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
    op.drop_table("note")
    op.drop_index(op.f("ix_run_schedule"), "run")
    op.add_column("episode", sa.Column("milestones", sa.JSON(), nullable=False, server_default="{}"))
    for table, columns in added().items():
        for column in columns:
            op.drop_column(table, column.name)
