"""Proposed fixes, and what people decided about them."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _key(table: str, column: str, to: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{to}.id"], name=f"fk_{table}_{column}_{to}")


def upgrade() -> None:
    op.create_table(
        "proposal",
        sa.Column("id", KEY, nullable=False),
        *(sa.Column(name, KEY, nullable=False) for name in ("run_id", "entrant_id", "episode_id")),
        *(
            sa.Column(name, sa.String(), nullable=False)
            for name in ("repository", "base", "folder", "problem", "title")
        ),
        sa.Column("tests", sa.JSON(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("diff", sa.Text(), nullable=False),
        sa.Column("test_diff", sa.Text(), nullable=False),
        sa.Column("evidence", sa.JSON(), nullable=False),
        sa.Column("surety", sa.Float(), nullable=False),
        sa.Column("replaced_by", KEY, nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=True),
        *(_key("proposal", f"{to}_id", to) for to in ("run", "entrant", "episode")),
        _key("proposal", "replaced_by", "proposal"),
        sa.PrimaryKeyConstraint("id", name="pk_proposal"),
    )
    for name in ("run_id", "episode_id", "repository"):
        op.create_index(f"ix_proposal_{name}", "proposal", [name])
    op.create_table(
        "decision",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("proposal_id", KEY, nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("seal", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("kind IN ('approved', 'rejected', 'comment')", name=op.f("ck_decision_kind")),
        *(_key("decision", f"{to}_id", to) for to in ("run", "proposal")),
        sa.PrimaryKeyConstraint("id", name="pk_decision"),
    )
    for name in ("run_id", "proposal_id"):
        op.create_index(f"ix_decision_{name}", "decision", [name])
    final = sa.text("kind <> 'comment'")
    op.create_index(
        "ix_decision_final", "decision", ["proposal_id"], unique=True, sqlite_where=final, postgresql_where=final
    )


def downgrade() -> None:
    op.drop_table("decision")
    op.drop_table("proposal")
