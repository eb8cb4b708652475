"""The episodes of a run that are being played, and what they wait for."""

from __future__ import annotations

from typing import TypedDict

from sqlalchemy import Engine, func, select

from stackrank.db.connection.transactions import ENTRANT, EPISODE, OPEN, STEP
from stackrank.db.queries.reading import fetch
from stackrank.host.wall_clock import seconds_since
from stackrank.terms import EpisodeStatus

_E = EPISODE.c


class EpisodeInProgress(TypedDict):
    """An episode that a worker has claimed and not ended."""

    episode: int
    entrant: str
    model: str
    """Empty for an entrant without one."""
    next_step: int
    """0: its sandbox is being prepared."""
    waiting_s: float
    """Seconds since its last step, or since it began."""


def in_progress(engine: Engine, run_id: int) -> list[EpisodeInProgress]:
    """Return the episodes of a run that are claimed, the one that has waited longest first."""
    of_episode = STEP.c.episode_id == _E.id
    last_step = select(func.max(STEP.c.created_at)).where(of_episode).scalar_subquery().label("last_step")
    last_index = select(func.max(STEP.c.index)).where(of_episode).scalar_subquery().label("last_index")
    columns = (_E.id, ENTRANT.c.name, ENTRANT.c.model, _E.started_at, last_step, last_index)
    is_held = (_E.run_id == run_id, _E.counted, _E.status == EpisodeStatus.RUNNING, OPEN)
    rows = fetch(engine, select(*columns).join(ENTRANT, _E.entrant_id == ENTRANT.c.id).where(*is_held))
    episodes: list[EpisodeInProgress] = [
        {
            "episode": row["id"],
            "entrant": row["name"],
            "model": row["model"],
            "next_step": 0 if row["last_index"] is None else row["last_index"] + 1,
            "waiting_s": seconds_since(max(filter(None, (row["last_step"], row["started_at"])))),
        }
        for row in rows
    ]
    return sorted(episodes, key=lambda episode: (-round(episode["waiting_s"]), episode["episode"]))
