"""Episodes in a state that a test needs."""

from __future__ import annotations

from sqlalchemy import update

from stackrank.db.connection.transactions import EPISODE
from stackrank.db.writes.store import Store
from stackrank.host.wall_clock import now


def start(store: Store, episode_id: int) -> None:
    """Make one certain episode a running one that nobody has claimed; workers claim whichever is next."""
    statement = update(EPISODE).where(EPISODE.c.id == episode_id).values(status="running", started_at=now())
    with store.engine.connect().execution_options(write=True) as connection, connection.begin():
        connection.execute(statement)
