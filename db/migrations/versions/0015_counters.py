"""Counters: running totals of each run's episodes, kept up to date by triggers.

A migration that recreates the table `episode` in SQLite must also recreate the triggers.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
BOUNDS = (1, 5, 15, 60, 300, 900, 1800, 3600)
SAME = ("run_id", "entrant_id", "counted", "status", "verdict", "error_class")
CAUSE = {
    "sqlite": "substr({e}.error, 1, max(instr(substr({e}.error, 1, 40), ':') - 1, 0))",
    "postgresql": "left({e}.error, greatest(position(':' in left({e}.error, 40)) - 1, 0))",
}
"""What an error starts with, up to a colon."""
SUMS = {
    "episodes": "1",
    "sealed": "CASE WHEN {e}.sealed > 0 THEN 1 ELSE 0 END",
    "priced": "CASE WHEN {e}.cost_usd IS NULL THEN 0 ELSE 1 END",
    "cost_usd": "coalesce({e}.cost_usd, 0.0)",
    "wall_s": "{e}.wall_s",
    "tokens_in": "{e}.tokens_in",
    "tokens_out": "{e}.tokens_out",
    **{f"within_{bound}": f"CASE WHEN {{e}}.wall_s <= {bound} THEN 1 ELSE 0 END" for bound in BOUNDS},
}
INTO = f"INSERT INTO counter (slot, {', '.join(SAME)}, cause, {', '.join(SUMS)})"
ADD = f"ON CONFLICT (slot, {', '.join(SAME)}, cause) DO UPDATE SET " + ", ".join(
    f"{name} = counter.{name} + excluded.{name}" for name in SUMS
)
WATCHED = (
    *("counted", "status", "verdict", "error_class", "error"),
    *("sealed", "cost_usd", "wall_s", "tokens_in", "tokens_out"),
)


def upgrade() -> None:
    op.create_table(
        "counter",
        *(sa.Column(name, KEY, nullable=False) for name in ("run_id", "entrant_id")),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("counted", sa.Boolean(), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("status", "verdict", "error_class", "cause")),
        *(
            sa.Column(name, sa.Float() if name in ("cost_usd", "wall_s") else sa.BigInteger(), nullable=False)
            for name in SUMS
        ),
        sa.PrimaryKeyConstraint(
            *("run_id", "entrant_id", "slot", "counted", "status", "verdict", "error_class", "cause"), name="pk_counter"
        ),
    )
    left = sa.text("status = 'pending' AND interruptions > 0")
    op.create_index("ix_episode_left", "episode", ["run_id"], sqlite_where=left, postgresql_where=left)
    if op.get_bind().dialect.name == "postgresql":
        _run(f"{INTO} {_select('sum({})', 'postgresql', '0')} FROM episode AS e {_group('postgresql')}")
        _postgresql()
    else:
        _run(f"{INTO} {_select('sum({})', 'sqlite', '0')} FROM episode AS e {_group('sqlite')}")
        _sqlite()


def _sqlite() -> None:
    """Create the triggers for SQLite. They run once per row. One connection writes at a time, so one slot is enough."""

    def add(row: str, sign: str) -> str:
        # Without WHERE, SQLite takes ON for a part of the SELECT.
        return f"{INTO} {_select(sign, 'sqlite', '0', row)} WHERE true {ADD};"

    _run(f"CREATE TRIGGER episode_is_new AFTER INSERT ON episode BEGIN {add('new', '{}')} END")
    changed = " OR ".join(f"old.{name} IS NOT new.{name}" for name in WATCHED)
    _run(
        f"CREATE TRIGGER episode_has_changed AFTER UPDATE OF {', '.join(WATCHED)} ON episode WHEN {changed} "
        f"BEGIN {add('old', '-({})')} {add('new', '{}')} END"
    )


def _postgresql() -> None:
    """Create the triggers for PostgreSQL.

    They run once per statement: with a trigger per row, repeated updates of one counter in a transaction would get
    slower and slower. Connections write to separate rows, the slots, so that they do not block each other. They update
    rows in a fixed order, so that two connections that share a slot cannot deadlock.
    """
    select = _select("sum(e.n * ({}))", "postgresql", "mod(pg_backend_pid(), 16)")
    new, old = "SELECT 1 AS n, * FROM added", "SELECT -1 AS n, * FROM gone"
    changed = " OR ".join(f"sum(e.n * ({each.format(e='e')})) <> 0" for each in SUMS.values())
    for name, deed, tables, rows, kept in (
        ("episode_is_new", "INSERT", "NEW TABLE AS added", new, ""),
        ("episode_has_changed", "UPDATE", "OLD TABLE AS gone NEW TABLE AS added", f"{new} UNION ALL {old}",
         f"HAVING {changed}"),
    ):  # fmt: skip
        add = f"{INTO} {select} FROM ({rows}) AS e {_group('postgresql')} {kept} ORDER BY 2, 3, 4, 5, 6, 7, 8 {ADD};"
        _run(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {add} RETURN NULL; END $$")
        _run(
            f"CREATE TRIGGER {name} AFTER {deed} ON episode REFERENCING {tables} FOR EACH STATEMENT "
            f"EXECUTE FUNCTION {name}()"
        )


def _select(each: str, dialect: str, slot: str, row: str = "e") -> str:
    """The values of a counter. `each`: what is done to each of its numbers."""
    same = [f"{row}.{name}" for name in SAME]
    sums = [each.format(number.format(e=row)) for number in SUMS.values()]
    return f"SELECT {', '.join([slot, *same, CAUSE[dialect].format(e=row), *sums])}"


def _group(dialect: str) -> str:
    return f"GROUP BY {', '.join([f'e.{name}' for name in SAME] + [CAUSE[dialect].format(e='e')])}"


def _run(statement: str) -> None:
    op.get_bind().exec_driver_sql(statement)


def downgrade() -> None:
    postgresql = op.get_bind().dialect.name == "postgresql"
    for name in ("episode_is_new", "episode_has_changed"):
        _run(f"DROP TRIGGER {name} ON episode" if postgresql else f"DROP TRIGGER {name}")
        if postgresql:
            _run(f"DROP FUNCTION {name}()")
    op.drop_index("ix_episode_left", "episode")
    op.drop_table("counter")
