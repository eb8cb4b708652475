"""The triggers of the first schema: they keep the counters of each run's episodes up to date."""

from __future__ import annotations

from alembic import op

BOUNDS = (1, 5, 15, 60, 300, 900, 1800, 3600)
GROUP = ("run_id", "entrant_id", "counted", "status", "verdict", "error_class")
CAUSE = {
    "sqlite": "substr({e}.error, 1, max(instr(substr({e}.error, 1, 40), ':') - 1, 0))",
    "postgresql": "left({e}.error, greatest(position(':' in left({e}.error, 40)) - 1, 0))",
}
"""The beginning of an error, up to a colon."""
SUMS = {
    "episodes": "1",
    "sealed": "CASE WHEN {e}.sealed > 0 THEN 1 ELSE 0 END",
    "unverified": "CASE WHEN {e}.unverified THEN 1 ELSE 0 END",
    "priced": "CASE WHEN {e}.cost_usd IS NULL THEN 0 ELSE 1 END",
    "cost_usd": "coalesce({e}.cost_usd, 0.0)",
    "wall_s": "{e}.wall_s",
    "tokens_in": "{e}.tokens_in",
    "tokens_out": "{e}.tokens_out",
    **{f"within_{bound}": f"CASE WHEN {{e}}.wall_s <= {bound} THEN 1 ELSE 0 END" for bound in BOUNDS},
}
INTO = f"INSERT INTO counter (slot, {', '.join(GROUP)}, cause, {', '.join(SUMS)})"
ADD = f"ON CONFLICT (slot, {', '.join(GROUP)}, cause) DO UPDATE SET " + ", ".join(
    f"{name} = counter.{name} + excluded.{name}" for name in SUMS
)
WATCHED = (
    *("counted", "status", "verdict", "error_class", "error"),
    *("sealed", "unverified", "cost_usd", "wall_s", "tokens_in", "tokens_out"),
)


def create_sqlite_triggers() -> None:
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


def create_postgresql_triggers() -> None:
    """Create the triggers for PostgreSQL.

    They run once per statement: with a trigger per row, repeated updates of one counter in a transaction would get
    slower and slower. Connections write to separate rows, the slots, so that they do not block each other. They update
    rows in a fixed order, so that two connections that share a slot cannot deadlock.
    """
    select = _select("sum(e.n * ({}))", "postgresql", "mod(pg_backend_pid(), 16)")
    group = ", ".join([f"e.{name}" for name in GROUP] + [CAUSE["postgresql"].format(e="e")])
    new, old = "SELECT 1 AS n, * FROM added", "SELECT -1 AS n, * FROM gone"
    changed = " OR ".join(f"sum(e.n * ({term.format(e='e')})) <> 0" for term in SUMS.values())
    for name, event, tables, rows, having in (
        ("episode_is_new", "INSERT", "NEW TABLE AS added", new, ""),
        ("episode_has_changed", "UPDATE", "OLD TABLE AS gone NEW TABLE AS added", f"{new} UNION ALL {old}",
         f"HAVING {changed}"),
    ):  # fmt: skip
        add = f"{INTO} {select} FROM ({rows}) AS e GROUP BY {group} {having} ORDER BY 2, 3, 4, 5, 6, 7, 8 {ADD};"
        _run(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {add} RETURN NULL; END $$")
        _run(
            f"CREATE TRIGGER {name} AFTER {event} ON episode REFERENCING {tables} FOR EACH STATEMENT "
            f"EXECUTE FUNCTION {name}()"
        )


def _select(template: str, dialect: str, slot: str, row: str = "e") -> str:
    """Return the SELECT of a counter's values. `template` is applied to each sum."""
    group = [f"{row}.{name}" for name in GROUP]
    sums = [template.format(term.format(e=row)) for term in SUMS.values()]
    return f"SELECT {', '.join([slot, *group, CAUSE[dialect].format(e=row), *sums])}"


def _run(statement: str) -> None:
    op.get_bind().exec_driver_sql(statement)
