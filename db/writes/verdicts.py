"""Write verdicts. Their records are appended and never changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from stackrank.db.connection.transactions import CHANGE, VERDICTS, InsertOnce, Transactions, clean
from stackrank.host.wall_clock import now

Kept = tuple[str, bytes]
"""A change's digest and its bytes."""


class Verdicts(Transactions):
    """The part of `db.writes.store.Store` that records verdicts."""

    def add_verdict(self, episode_id: int, record: Mapping[str, Any]) -> None:
        """Append a verdict from scoring an episode again. `record`: the columns of `VerdictRecord`.

        Only the first verdict of the same scorer on the same task in the same environment is kept.
        """
        self._write(lambda connection: self._add_verdict(connection, episode_id, record, of_record=False))

    def _add_verdict(
        self,
        connection: Connection,
        episode_id: int,
        record: Mapping[str, Any],
        *,
        of_record: bool,
        change: Kept | None = None,
    ) -> None:
        if change is not None:
            connection.execute(InsertOnce(CHANGE), {"digest": change[0], "content": change[1]})
        row = clean({"faults": {}, **record, "episode_id": episode_id, "of_record": of_record, "created_at": now()})
        connection.execute(InsertOnce(VERDICTS), row)
