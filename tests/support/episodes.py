"""Episodes in a state that a test needs."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import insert, select, update

from stackrank.db.connection.transactions import EPISODE, RUN, clean, new_id
from stackrank.db.models.runs import Episode
from stackrank.db.writes.store import EpisodeKey, Store
from stackrank.host.wall_clock import now


def start(store: Store, episode_id: int) -> None:
    """Make one certain episode a running one that nobody has claimed; workers claim whichever is next."""
    statement = update(EPISODE).where(EPISODE.c.id == episode_id).values(status="running", started_at=now())
    with store.engine.connect().execution_options(write=True) as connection, connection.begin():
        connection.execute(statement)


def create_episodes(store: Store, run_id: int, cells: Iterable[EpisodeKey], sandbox: str = "") -> dict[EpisodeKey, int]:
    """Add a pending episode to a stored run for each cell that has none yet, and return the episode of each cell."""
    with store.engine.connect().execution_options(write=True) as connection, connection.begin():
        columns = (EPISODE.c.task_id, EPISODE.c.entrant_id, EPISODE.c.attempt, EPISODE.c.id)
        stored = connection.execute(select(*columns).where(EPISODE.c.run_id == run_id, EPISODE.c.counted))
        episode_ids = {(task, entrant, attempt): episode for task, entrant, attempt, episode in stored}
        wanted = list(dict.fromkeys(cells))
        for task, entrant, attempt in (cell for cell in wanted if cell not in episode_ids):
            episode = Episode(
                run_id=run_id, task_id=task, entrant_id=entrant, attempt=attempt, sandbox=sandbox, created_at=now()
            )
            row = clean(episode.model_dump(exclude={"id"}))
            episode_ids[task, entrant, attempt] = new_id(connection.execute(insert(EPISODE), row))
        connection.execute(update(RUN).where(RUN.c.id == run_id).values(episodes_total=len(episode_ids)))
    return {cell: episode_ids[cell] for cell in wanted}
