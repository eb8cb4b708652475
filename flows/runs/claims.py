"""Which claims on episodes are void: their worker is dead, or has been silent for as long as this process watched."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable

from stackrank.db.rows import Claim
from stackrank.flows.runs.silence import Silence
from stackrank.home import is_dead, process_mark
from stackrank.settings import settings

_numbers = itertools.count(1)
_living: set[str] = set()


def new_token() -> str:
    """A token that says who claims an episode: this process, and which of its sessions."""
    token = f"{process_mark()}#{next(_numbers)}"
    _living.add(token)
    return token


def give_up(token: str) -> None:
    """Let others take over what was claimed with this token."""
    _living.discard(token)


def is_gone(token: str) -> bool:
    """Whether the worker is known to be dead. This cannot be known of a worker on another machine."""
    process = token.partition("#")[0]
    return token not in _living if process == process_mark() else is_dead(process)


class Watch:
    """Sees which of a run's claims are void."""

    def __init__(self) -> None:
        self._silence = Silence()

    def void(self, claims: Iterable[Claim], mine: Collection[int]) -> list[Claim]:
        """Those of the rows of `Store.claims` that may be taken over; `mine` is played in this process right now."""
        rows = [row for row in claims if row["id"] not in mine]
        standing = {row["id"]: (row["claimed_by"], row["alive_at"]) for row in rows}
        silent = self._silence.find(standing, settings().silent_s)
        return [row for row in rows if row["id"] in silent or is_gone(row["claimed_by"])]
