"""Labels that people give tasks and episodes, and views that they keep."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
LABELS = "'disputed', 'benchmark_bug', 'unclear_statement', 'flaky', 'wrong_verdict', 'exploit', 'instructive'"


def upgrade() -> None:
    op.create_table(
        "label",
        sa.Column("id", KEY, nullable=False),
        sa.Column("task_id", KEY, nullable=False),
        sa.Column("episode_id", KEY, nullable=True),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("given", sa.Boolean(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(f"label IN ({LABELS})", name=op.f("ck_label_label")),
        *(
            sa.ForeignKeyConstraint([f"{to}_id"], [f"{to}.id"], name=f"fk_label_{to}_id_{to}")
            for to in ("task", "episode")
        ),
        sa.PrimaryKeyConstraint("id", name="pk_label"),
    )
    for name in ("task_id", "episode_id"):
        op.create_index(f"ix_label_{name}", "label", [name])
    op.create_table(
        "saved_view",
        sa.Column("id", KEY, nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("page", "name")),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_saved_view"),
    )
    op.create_index("ix_saved_view_page", "saved_view", ["page"])


def downgrade() -> None:
    op.drop_table("saved_view")
    op.drop_table("label")
