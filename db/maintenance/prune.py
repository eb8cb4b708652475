"""Delete runs, with everything that belongs to them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, Engine, Table, delete, func, select, text
from sqlmodel import SQLModel

from stackrank.db import queries
from stackrank.db.connection.errors import DatabaseError
from stackrank.db.connection.transactions import CHANGE, EPISODE, RUN, VERDICTS, Transactions
from stackrank.db.queries.reading import open_connection
from stackrank.db.queries.runs import RunSummary
from stackrank.host.wall_clock import moment_ago
from stackrank.terms import RunStatus

Rows = dict[str, int]
"""Table -> number of rows."""


def ended_runs(
    engine: Engine, refs: Sequence[str] = (), *, older_than_days: float | None = None, tag: str = ""
) -> list[RunSummary]:
    """Return the ended runs with these references (all if none is given), of at least this age and with this tag.

    The oldest comes first. Raises NotFound for a reference to no run, and DatabaseError for a run that is not over.
    """
    runs: list[RunSummary] = [queries.run(engine, ref) for ref in dict.fromkeys(refs)]
    for run in runs:
        if not RunStatus(run["status"]).ended:
            raise DatabaseError(
                f"The run {run['id']} ({run['name']}) is {run['status']}: stop it with `stackrank cancel {run['id']}`."
            )
    if not refs:
        last = None
        while page := queries.runs(engine, before_id=last, limit=500):
            runs += [run for run in page if RunStatus(run["status"]).ended]
            last = page[-1]["id"]
    if older_than_days is not None:
        limit = moment_ago(days=older_than_days).isoformat()
        runs = [run for run in runs if run["created_at"] is not None and run["created_at"] < limit]
    if tag:
        runs = [run for run in runs if tag in run["tags"]]
    return sorted({run["id"]: run for run in runs}.values(), key=lambda run: run["id"])


def of_runs(table: Table, runs: Sequence[int]) -> ColumnElement[bool] | None:
    """Return the condition that a table's rows belong to these runs; None for a table whose rows belong to no run."""
    if table is RUN:
        return RUN.c.id.in_(runs)
    if "run_id" in table.c:
        return table.c.run_id.in_(runs)
    if "episode_id" in table.c:
        return table.c.episode_id.in_(select(EPISODE.c.id).where(EPISODE.c.run_id.in_(runs)))
    return None


def counted(engine: Engine, runs: Sequence[int]) -> Rows:
    """Count the rows of each table that belong to these runs. Raises DatabaseError."""
    with open_connection(engine) as connection:
        return {
            table.name: int(connection.scalar(select(func.count()).select_from(table).where(condition)) or 0)
            for table in SQLModel.metadata.sorted_tables
            if (condition := of_runs(table, runs)) is not None
        }


class Pruning(Transactions):
    """Deletes rows; transactions and errors are as in `db.writes.store.Store`."""

    def delete_run(self, run_id: int) -> Rows:
        """Delete a run and everything that belongs to it, in one transaction; tasks and entrants stay."""

        def work(connection: Connection) -> Rows:
            deleted = {}
            for table in reversed(SQLModel.metadata.sorted_tables):
                if (condition := of_runs(table, [run_id])) is not None:
                    deleted[table.name] = connection.execute(delete(table).where(condition)).rowcount
            return deleted

        return self._write(work)

    def delete_changes(self) -> int:
        """Delete the changes that no verdict is about any more."""
        unused = CHANGE.c.digest.not_in(select(VERDICTS.c.change))

        def work(connection: Connection) -> int:
            if self.engine.dialect.name == "postgresql":
                # Nobody may find a change and store a verdict about it while it is being deleted.
                connection.execute(text("LOCK TABLE change IN EXCLUSIVE MODE"))
            return int(connection.execute(delete(CHANGE).where(unused)).rowcount)

        return self._write(work)
