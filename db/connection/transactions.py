"""Short transactions, which are tried again after a transient failure of the database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, Engine, Insert, Table, and_, literal_column, select, text, update
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.exc import IntegrityError
from sqlmodel import SQLModel

from stackrank.db.connection.errors import FAILURES, NotFound, explain
from stackrank.db.connection.retries import retry_transient
from stackrank.db.models.acts import Act
from stackrank.db.models.derived import Counter, EpisodeTool, Tally, ToolUse
from stackrank.db.models.labels import LabelRecord, Note, SavedView
from stackrank.db.models.proposals import Decision, Proposal
from stackrank.db.models.runs import Benchmark, Blob, Entrant, Episode, Run, Step, Task
from stackrank.db.models.verdicts import Change, FaultVerdict, VerdictRecord
from stackrank.db.texts import Packed
from stackrank.storable import storable_json, storable_text
from stackrank.terms import EpisodeStatus

_Result = TypeVar("_Result")


def _table(model: type[SQLModel]) -> Table:
    return cast("Table", model.__table__)  # type: ignore[attr-defined]


# Statements use tables, not models, because rows that become dictionaries need no objects in between.
BENCHMARK, TASK, ENTRANT = _table(Benchmark), _table(Task), _table(Entrant)
RUN, EPISODE, STEP, NOTE = _table(Run), _table(Episode), _table(Step), _table(Note)
TOOL_USE, CHANGE, VERDICTS = _table(ToolUse), _table(Change), _table(VerdictRecord)
BLOB, EPISODE_TOOL, TALLY, COUNTER = _table(Blob), _table(EpisodeTool), _table(Tally), _table(Counter)
FAULT_VERDICT = _table(FaultVerdict)
PROPOSAL, DECISION = _table(Proposal), _table(Decision)
ACT = _table(Act)
LABEL, VIEW = _table(LabelRecord), _table(SavedView)
OPEN = EPISODE.c.status != literal_column(f"'{EpisodeStatus.DONE}'")
"""The condition that an episode is not done, worded exactly as in `ix_episode_open`, so that SQLite uses that index."""
LEFT = and_(
    EPISODE.c.status == literal_column(f"'{EpisodeStatus.PENDING}'"), EPISODE.c.interruptions > literal_column("0")
)
"""The condition that an unfinished episode was given back, worded as in the index `ix_episode_left`."""
PACKED = {column.name: column.type.kind for column in STEP.c if isinstance(column.type, Packed)}
"""The columns of a step that `db.texts` packs, and the kind of each."""


class InsertOnce(Insert):
    """INSERT ... ON CONFLICT DO NOTHING, in a form that both databases accept.

    SQLAlchemy does not cache the inserts of a dialect: compiling one would be half the cost of storing a step.
    """

    inherit_cache = True
    _post_values_clause = text("ON CONFLICT DO NOTHING")


class Transactions:
    """The base of the classes that write to the database."""

    def __init__(self, engine: Engine, *, attempts: int = 5) -> None:
        self.engine = engine
        self._attempts = attempts

    def _write(self, work: Callable[[Connection], _Result], *, write: bool = True) -> _Result:
        """Do `work` in one transaction, and again after a transient failure."""
        try:
            return retry_transient(self.engine, lambda: self._once(work, write), attempts=self._attempts)
        except IntegrityError as error:
            raise ValueError(f"the database refused the row: {error.orig}") from error
        except FAILURES as error:
            raise explain(error, self.engine.url) from error

    def _once(self, work: Callable[[Connection], _Result], write: bool) -> _Result:
        with self.engine.connect().execution_options(write=write) as connection, connection.begin():
            return work(connection)

    def _insert(self, table: Table) -> Any:
        """Return an insert that has ON CONFLICT DO UPDATE, for which SQLAlchemy has a class per database."""
        return postgresql_insert(table) if self.engine.dialect.name == "postgresql" else sqlite_insert(table)

    def _upsert(
        self, connection: Connection, table: Table, row: dict[str, Any], *, key: Sequence[str], change: Sequence[str]
    ) -> int:
        statement = self._insert(table).values(row)
        changed = {column: statement.excluded[column] for column in change}
        statement = statement.on_conflict_do_update(index_elements=list(key), set_=changed).returning(table.c.id)
        return int(connection.scalar(statement))

    def _update(self, connection: Connection, table: Table, row_id: int, values: dict[str, Any]) -> None:
        if connection.execute(update(table).where(table.c.id == row_id).values(values)).rowcount == 0:
            self._exists(connection, table, row_id)

    def _exists(self, connection: Connection, table: Table, row_id: int) -> None:
        if connection.scalar(select(table.c.id).where(table.c.id == row_id)) is None:
            raise NotFound(f"There is no {table.name} {row_id}: create it first.")


def clean(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with its texts and JSON made storable; times and enums stay as they are."""
    return {
        name: storable_text(value)
        if isinstance(value, str)
        else storable_json(value)
        if isinstance(value, dict | list | tuple)
        else value
        for name, value in row.items()
    }


def new_id(result: Any) -> int:
    """Return the id that the database gave to the one row of an insert."""
    return int(result.inserted_primary_key[0])
