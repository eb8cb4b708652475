"""Which claims on episodes are void: their worker is dead, or has been silent for as long as this process watched."""

from __future__ import annotations

import functools
import itertools
import os
import time
from collections.abc import Collection, Iterable
from typing import Any

from env.sandbox.base import owner, owner_is_gone
from flows.spec import SpecError


def _silent_s() -> float:
    given = os.environ.get("STACKRANK_SILENT_S", "").strip() or "20"
    if not given.isdecimal() or not int(given):
        raise SpecError(f"STACKRANK_SILENT_S is {given!r}: set it to a whole number of seconds, or to nothing")
    return float(given)


SILENT_S = _silent_s()
"""A worker that says nothing for so long is taken for dead. If it lives, what it writes afterwards is refused."""
BEAT_S = SILENT_S / 10
"""How often a worker says that it lives."""

_numbers = itertools.count(1)
_living: set[str] = set()
_me = functools.cache(owner)


def new_token() -> str:
    """Who claims: this process, and which of its stages."""
    token = f"{_me()}#{next(_numbers)}"
    _living.add(token)
    return token


def give_up(token: str) -> None:
    """What was claimed with this token is free for others."""
    _living.discard(token)


def is_gone(token: str) -> bool:
    """Whether the worker is known to be dead. Of other machines nobody can tell."""
    process = token.partition("#")[0]
    return token not in _living if process == _me() else owner_is_gone(process)


class Watch:
    """Sees which of a run's claims are void.

    Silence is measured by this process's own clock, from when it first saw the claim as it stands: the clocks of two
    machines need not agree.
    """

    def __init__(self) -> None:
        self._seen: dict[int, tuple[Any, float]] = {}

    def void(self, claims: Iterable[dict[str, Any]], mine: Collection[int]) -> list[dict[str, Any]]:
        """Those of the rows of `Store.claims` that may be taken over; `mine` is played in this process right now."""
        now = time.monotonic()
        seen, void = {}, []
        for row in claims:
            if row["id"] in mine:
                continue
            as_it_stands = (row["claimed_by"], row["alive_at"])
            known, since = self._seen.get(row["id"], (None, now))
            seen[row["id"]] = (as_it_stands, since if known == as_it_stands else now)
            if is_gone(row["claimed_by"]) or now - seen[row["id"]][1] >= SILENT_S:
                void.append(row)
        self._seen = seen
        return void
