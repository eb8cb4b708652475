"""Tallies: for each ended run, the totals of its episodes by entrant and task."""

from __future__ import annotations

from typing import Any

import numpy
import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SCORED = "verdict IN ('resolved', 'unresolved')"
UNPRICED = f"sum(CASE WHEN cost_usd IS NULL AND ({SCORED} OR tokens_in + tokens_out > 0) THEN 1 ELSE 0 END)"
SPENT = "coalesce(sum(cost_usd), 0.0)"


def _count(condition: str) -> str:
    return f"sum(CASE WHEN {condition} THEN 1 ELSE 0 END)"


def _scored(column: str) -> str:
    return f"sum(CASE WHEN {SCORED} THEN {column} ELSE 0 END)"


CELL = {
    "entrant": ("<i8", "entrant_id"),
    "task": ("<i8", "task_id"),
    "resolved": ("<i4", _count("verdict = 'resolved'")),
    "sealed": ("<i4", _count("verdict = 'resolved' AND sealed > 0")),
    "unresolved": ("<i4", _count("verdict = 'unresolved'")),
    "errors": ("<i4", _count("verdict = 'error'")),
    "steps": ("<i8", _scored("steps")),
    "tokens_in": ("<i8", _scored("tokens_in")),
    "tokens_out": ("<i8", _scored("tokens_out")),
    "cost_usd": ("<f8", _scored("coalesce(cost_usd, 0.0)")),
    "priced": ("<i4", _count(f"{SCORED} AND cost_usd IS NOT NULL")),
    "wall_s": ("<f8", _scored("wall_s")),
    "spent_usd": ("<f8", SPENT),
    "unpriced": ("<i4", UNPRICED),
    "machine_errors": ("<i4", _count("verdict = 'error' AND error_class = 'machine'")),
    "endpoint_errors": ("<i4", _count("verdict = 'error' AND error_class = 'endpoint'")),
    "environment_errors": ("<i4", _count("verdict = 'error' AND error_class = 'environment'")),
    "our_errors": ("<i4", _count("verdict = 'error' AND error_class = 'ours'")),
}
SPENT_AT, UNPRICED_AT = list(CELL).index("spent_usd"), list(CELL).index("unpriced")
COUNTED = (
    f"SELECT {', '.join(query for _, query in CELL.values())} FROM episode "
    "WHERE run_id = :run AND counted AND verdict <> '' GROUP BY entrant_id, task_id"
)
TRIES = (
    f"SELECT entrant_id, task_id, {SPENT}, {UNPRICED} FROM episode "
    "WHERE run_id = :run AND NOT counted GROUP BY entrant_id, task_id"
)


def upgrade() -> None:
    metadata = sa.MetaData()
    sa.Table("run", metadata, sa.Column("id", KEY, primary_key=True))
    tally = sa.Table(
        "tally",
        metadata,
        sa.Column("run_id", KEY, autoincrement=False, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_tally_run_id_run"),
        sa.PrimaryKeyConstraint("run_id", name="pk_tally"),
    )
    connection = op.get_bind()
    tally.create(connection)
    ended = sa.text("SELECT id FROM run WHERE status IN ('finished', 'cancelled', 'failed') ORDER BY id")
    for run in connection.scalars(ended).all():
        connection.execute(sa.insert(tally).values(run_id=run, content=_content(connection, run)))


def _content(connection: sa.Connection, run: int) -> bytes:
    cells: dict[tuple[int, int], list[Any]] = {}
    for row in connection.execute(sa.text(COUNTED), {"run": run}):
        cells[row[0], row[1]] = list(row)
    for entrant, task, spent, unpriced in connection.execute(sa.text(TRIES), {"run": run}):
        cell = cells.setdefault((entrant, task), [entrant, task] + [0] * (len(CELL) - 2))
        cell[SPENT_AT] += spent
        cell[UNPRICED_AT] += unpriced
    kind = numpy.dtype([(name, of) for name, (of, _) in CELL.items()])
    return numpy.array([tuple(cells[key]) for key in sorted(cells)], kind).tobytes()


def downgrade() -> None:
    op.drop_table("tally")
