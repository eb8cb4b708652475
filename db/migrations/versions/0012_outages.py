"""The endpoints that a run waits for, and how often a supervisor has resumed the run."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run", sa.Column("outages", sa.JSON(), nullable=True))
    op.add_column("run", sa.Column("taken_up", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("run", "taken_up")
    op.drop_column("run", "outages")
