"""Decides which claims on episodes are void: the worker is dead, or was silent too long while this process watched."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable

from stackrank.db.writes.claims import WorkerClaim
from stackrank.flows.runs.playing.liveness import Silence
from stackrank.home import is_dead, process_mark
from stackrank.settings import settings

_numbers = itertools.count(1)
_living: set[str] = set()


def new_token() -> str:
    """Return a token that says who claims an episode: this process, and which of its sessions."""
    token = f"{process_mark()}#{next(_numbers)}"
    _living.add(token)
    return token


def give_up(token: str) -> None:
    """Let others take over the episodes claimed with this token."""
    _living.discard(token)


def is_gone(token: str) -> bool:
    """Whether the worker is known to be dead. For a worker on another machine, that is never known."""
    process = token.partition("#")[0]
    return token not in _living if process == process_mark() else is_dead(process)


class Watch:
    """Finds a run's void claims."""

    def __init__(self) -> None:
        self._silence = Silence()

    def void(self, claims: Iterable[WorkerClaim], mine: Collection[int]) -> list[WorkerClaim]:
        """Return the rows of `Store.claims` that may be taken over. `mine`: episodes that this process plays now."""
        rows = [row for row in claims if row["id"] not in mine]
        standing = {row["id"]: (row["claimed_by"], row["alive_at"]) for row in rows}
        silent = self._silence.find(standing, settings().silent_s)
        return [row for row in rows if row["id"] in silent or is_gone(row["claimed_by"])]
