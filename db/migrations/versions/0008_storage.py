"""Compressed texts, blobs, 64-bit keys, rules for vocabularies and counts; in PostgreSQL, steps in partitions."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from stackrank.db.migrations.checks import drop_check, set_check
from stackrank.db.texts import Blobs, Folded, Packed, expanded, fold, unfold
from stackrank.wording import print_err

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TOKENS = ("tokens_in", "tokens_out", "tokens_cached", "tokens_reasoning")
MILESTONES = ("reproduced", "localized", "breakpoint", "inspected", "edited", "improved", "solved")
STOP_REASONS = (
    "", "submitted", "solved", "step_limit", "token_limit", "cost_limit", "time_limit", "context_limit",
    "agent_gave_up", "refused", "malformed_actions", "sandbox_lost", "cancelled", "decided", "error",
)  # fmt: skip
FAILURE_POINTS = (
    "", "never_reproduced", "never_localized", "localized_not_edited", "wrong_location", "wrong_fix", "regression",
    "broke_syntax", "looped", "malformed_actions", "out_of_budget", "broke_sandbox", "tampered",
)  # fmt: skip
VOCABULARIES = {
    ("run", "status"): ("pending", "running", "finished", "cancelled", "failed"),
    ("episode", "status"): ("pending", "running", "done", "not_played"),
    ("episode", "stop_reason"): STOP_REASONS,
    ("episode", "failure_point"): FAILURE_POINTS,
}
COUNTS = {
    "benchmark": ("tasks_total", "tasks_valid"),
    "task": ("validated_rounds", "tests_deciding", "tests_covered"),
    "run": ("episodes_total",),
    "episode": (
        "attempt", "try_number", "failure_step", "sealed", "steps", *TOKENS, "tests_passed", "tests_failed",
        "interruptions", *(f"at_{name}" for name in MILESTONES),
    ),
    "tooluse": ("calls", "searching", "diagnosing", "repairing", "failed", "tokens_in", "tokens_out"),
    "verdicts": ("sealed",),
    "note": ("step_index",),
}  # fmt: skip
KEYS = {
    "benchmark": ("id",),
    "task": ("id", "benchmark_id"),
    "entrant": ("id",),
    "run": ("id", "benchmark_id"),
    "episode": ("id", "run_id", "task_id", "entrant_id"),
    "tooluse": ("episode_id", "run_id", "entrant_id", "task_id"),
    "verdicts": ("id", "episode_id"),
    "note": ("id", "run_id", "episode_id"),
}
KINDS = {"arguments": dict, "thought": str, "observation": str, "state": dict, "exchanges": list, "milestones": list}
PARTITION = 100_000
"""Episodes whose steps are one partition."""
BATCH = 500
"""Steps that are moved in one transaction."""
SAID = 100 * BATCH
_LOCK = 7_236_110_416


def _columns(packed: bool) -> list[Any]:
    """The columns of `step`, in their order."""

    def long(name: str) -> Any:
        kind: Any = Packed(KINDS[name]) if packed else sa.Text() if KINDS[name] is str else sa.JSON()
        return sa.Column(name, kind, nullable=False)

    def number(name: str, kind: Any = sa.Integer, nullable: bool = False) -> Any:
        return sa.Column(name, kind(), nullable=nullable)

    return [
        sa.Column("episode_id", KEY if packed else sa.Integer(), primary_key=True, nullable=False),
        sa.Column("index", sa.Integer(), primary_key=True, autoincrement=False, nullable=False),
        sa.Column("tool", sa.String(), nullable=False),
        *map(long, ("arguments", "thought", "observation")),
        sa.Column("ok", sa.Boolean(), nullable=False),
        long("state"),
        *(number(name, sa.Float) for name in ("env_ms", "model_ms")),
        *map(number, TOKENS),
        number("cost_usd", sa.Float, nullable=True),
        *map(long, ("exchanges", "milestones")),
        sa.Column("distance", sa.String(), nullable=False),
        number("distance_lines", nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=True),
    ]


def _table(name: str, packed: bool) -> sa.Table:
    return sa.Table(name, sa.MetaData(), *_columns(packed))


OLD, NEW = _table("step", packed=False), _table("step_new", packed=True)
EPISODE = sa.table("episode", sa.column("id"), sa.column("run_id"))
BLOB = sa.table("blob", *map(sa.column, ("run_id", "digest", "content")))


def prepare(engine: sa.Engine) -> None:
    """Pack the existing steps into a new table, one batch per transaction.

    An interrupted call can be repeated, and continues. It does not change the old table, so other processes can keep
    using it; `upgrade` moves what they write in the meantime.
    """
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        _make_tables(connection)
    moved = 0
    while True:
        with engine.connect().execution_options(write=True) as connection, connection.begin():
            _wait_for_others(connection)
            if not sa.inspect(connection).has_table(NEW.name):
                return  # somebody else was faster
            newest = sa.select(NEW.c.episode_id, NEW.c.index).order_by(NEW.c.episode_id.desc(), NEW.c.index.desc())
            last = connection.execute(newest.limit(1)).one_or_none()
            rows = sa.select(OLD).order_by(OLD.c.episode_id, OLD.c.index).limit(BATCH)
            if last is not None:
                rows = rows.where(sa.tuple_(OLD.c.episode_id, OLD.c.index) > sa.tuple_(*last))
            count = _move(connection, rows)
        moved += count
        if count < BATCH:
            return
        if moved % SAID == 0:
            print_err(f"upgrading the database: {moved} steps are packed")


def _wait_for_others(connection: sa.Connection) -> None:
    """Be the only one at this work until the transaction ends; SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})


def _move(connection: sa.Connection, rows: sa.Select[Any]) -> int:
    """Copy rows of the old table into the new one."""
    found = [dict(row) for row in connection.execute(rows).mappings()]
    if not found:
        return 0
    episodes = {row["episode_id"] for row in found}
    runs = dict(
        connection.execute(sa.select(EPISODE.c.id, EPISODE.c.run_id).where(EPISODE.c.id.in_(episodes))).tuples().all()
    )
    kept: dict[tuple[int, bytes], bytes] = {}
    for row in found:
        blobs: Blobs = {}
        row |= {name: fold(row[name], blobs) for name in KINDS}
        kept |= {(runs[row["episode_id"]], digest): content for digest, content in blobs.items()}
    if kept:
        statement = sa.text(
            "INSERT INTO blob (run_id, digest, content) VALUES (:run, :digest, :content) ON CONFLICT DO NOTHING"
        )
        named = [{"run": run, "digest": digest, "content": kept[run, digest]} for run, digest in sorted(kept)]
        connection.execute(statement, named)
    connection.execute(sa.insert(NEW), found)
    return len(found)


def _make_tables(connection: sa.Connection) -> None:
    """The tables that are filled before the schema changes, if they are not there yet; others wait meanwhile."""
    _wait_for_others(connection)
    postgres = connection.dialect.name == "postgresql"
    if not sa.inspect(connection).has_table("blob"):
        metadata = sa.MetaData()
        for name in ("run", "episode"):
            sa.Table(name, metadata, sa.Column("id", KEY, primary_key=True))
        sa.Table(
            "blob",
            metadata,
            sa.Column("run_id", KEY, nullable=False),
            sa.Column("digest", sa.LargeBinary(), nullable=False),
            sa.Column("content", sa.LargeBinary(), nullable=False),
            sa.ForeignKeyConstraint(["run_id"], ["run.id"], name="fk_blob_run_id_run"),
            sa.PrimaryKeyConstraint("run_id", "digest", name="pk_blob"),
        ).create(connection)
        counts = " AND ".join(f"{name} >= 0" for name in ('"index"', *TOKENS, "distance_lines"))
        sa.Table(
            "step_new",
            metadata,
            *_columns(packed=True),
            sa.CheckConstraint("distance IN ('', 'line', 'function', 'file', 'elsewhere')", name="ck_step_distance"),
            sa.CheckConstraint(counts, name="ck_step_counts"),
            sa.ForeignKeyConstraint(["episode_id"], ["episode.id"], name="fk_step_episode_id_episode"),
            # In PostgreSQL the old table's key has the right name, as long as it is there.
            sa.PrimaryKeyConstraint("episode_id", "index", name="pk_step_new" if postgres else "pk_step"),
            postgresql_partition_by="RANGE (episode_id)",
        ).create(connection)
    if postgres and sa.inspect(connection).has_table(NEW.name):
        ranges = sa.text(f"SELECT DISTINCT id / {PARTITION} FROM episode UNION SELECT 0")
        for number in connection.scalars(ranges).all():
            first = int(number) * PARTITION
            connection.execute(
                sa.text(
                    f"CREATE TABLE IF NOT EXISTS step_{number} PARTITION OF step_new "
                    f"FOR VALUES FROM ({first}) TO ({first + PARTITION})"
                )
            )


def upgrade() -> None:
    connection = op.get_bind()
    _make_tables(connection)
    # What was written since, or everything where nothing was prepared.
    there = sa.select(1).where(NEW.c.episode_id == OLD.c.episode_id, NEW.c.index == OLD.c.index)
    while _move(connection, sa.select(OLD).where(~there.exists()).limit(BATCH)):
        pass
    op.drop_table("step")
    op.rename_table("step_new", "step")
    if connection.dialect.name == "postgresql":
        op.execute("ALTER TABLE step RENAME CONSTRAINT pk_step_new TO pk_step")
        widen()
    op.create_table(
        "episode_tool",
        sa.Column("tool", sa.String(), nullable=False),
        sa.Column("episode_id", KEY, nullable=False),
        sa.ForeignKeyConstraint(["episode_id"], ["episode.id"], name="fk_episode_tool_episode_id_episode"),
        sa.PrimaryKeyConstraint("tool", "episode_id", name="pk_episode_tool"),
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO episode_tool (tool, episode_id) SELECT DISTINCT tool, episode_id FROM step WHERE tool <> ''"
    )
    for (table, column), terms in VOCABULARIES.items():
        set_check(table, column, f"{column} IN ({', '.join(map(repr, terms))})")
    for table, columns in COUNTS.items():
        set_check(table, "counts", " AND ".join(f"{column} >= 0" for column in columns))


def widen() -> None:
    """64 bits for the keys; SQLite's have them already."""
    for table, columns in KEYS.items():
        changes = ", ".join(f'ALTER COLUMN "{column}" TYPE BIGINT' for column in columns)
        op.execute(f'ALTER TABLE "{table}" {changes}')
        if "id" in columns:
            op.execute(f'ALTER SEQUENCE "{table}_id_seq" AS BIGINT')


def downgrade() -> None:
    connection = op.get_bind()
    for table, column in VOCABULARIES:
        drop_check(table, column)
    for table in COUNTS:
        drop_check(table, "counts")
    op.rename_table("step", NEW.name)
    if connection.dialect.name == "postgresql":
        op.execute("ALTER TABLE step_new RENAME CONSTRAINT pk_step TO pk_step_new")
    foreign = sa.ForeignKeyConstraint(["episode_id"], ["episode.id"], name="fk_step_episode_id_episode")
    op.create_table("step", *_columns(packed=False), foreign)
    blobs = sa.select(BLOB.c.digest, BLOB.c.content).join(EPISODE, EPISODE.c.run_id == BLOB.c.run_id)
    for (episode,) in connection.execute(sa.select(NEW.c.episode_id).distinct()).all():
        own = connection.execute(blobs.where(EPISODE.c.id == episode)).tuples()
        contents = {digest: expanded(content) for digest, content in own}
        for row in connection.execute(sa.select(NEW).where(NEW.c.episode_id == episode)).mappings().all():
            whole = {
                name: unfold(row[name], kind, contents) if isinstance(row[name], Folded) else row[name]
                for name, kind in KINDS.items()
            }
            connection.execute(sa.insert(OLD), dict(row) | whole)
    for table in (NEW.name, "blob", "episode_tool"):
        op.drop_table(table)
