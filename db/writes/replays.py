"""Records the results of replays."""

from __future__ import annotations

from sqlalchemy import Connection

from stackrank.db.connection.transactions import EPISODE, Transactions, clean
from stackrank.host.wall_clock import now


class Replays(Transactions):
    """The part of `db.writes.store.Store` that records replays."""

    def save_replay(self, episode_id: int, result: str) -> None:
        """Store the result of the last replay of an episode: see `Replayed.result`. Raises `NotFound`."""

        def work(connection: Connection) -> None:
            self._update(connection, EPISODE, episode_id, clean({"replayed": result, "replayed_at": now()}))

        self._write(work)
