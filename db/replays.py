"""What is written about replays."""

from __future__ import annotations

from sqlalchemy import Connection

from db.columns import now
from db.transactions import EPISODE, Transactions, clean


class Replays(Transactions):
    """Writes as `db.store.Store` does."""

    def save_replay(self, episode_id: int, result: str) -> None:
        """Store how the last replay of an episode came out: `same`, or where it differed. Raises `NotFound`."""

        def work(connection: Connection) -> None:
            self._update(connection, EPISODE, episode_id, clean({"replayed": result, "replayed_at": now()}))

        self._write(work)
