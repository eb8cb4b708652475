"""How many episodes may be played on this machine at the same time, by whatever processes: a ledger under a lock."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psutil

from env.sandbox.base import owner, owner_is_gone
from env.sandbox.python_env import locked, stackrank_home
from env.task import Limits
from flows.spec import SpecError

SANDBOXES = 2
"""An episode has one to play in, and one for the verdict."""
_WAIT_S = 0.5


@contextmanager
def room(limits: Limits, stopped: Callable[[], bool]) -> Iterator[None]:
    """While an episode is played: waits until this machine has room for it, or `stopped` says so.

    All processes with one home keep to `STACKRANK_HOST_WORKERS` episodes, and to sandboxes whose memory limits add up
    to `STACKRANK_HOST_MEMORY_MB`, by default this machine's memory. One episode may always be played.
    """
    entry = uuid.uuid4().hex
    needed = SANDBOXES * limits.memory_mb
    while not _enter(entry, needed) and not stopped():
        time.sleep(_WAIT_S)
    try:
        yield
    finally:
        with _ledger() as entries:
            entries.pop(entry, None)


def capacity() -> tuple[int, int]:
    """How many episodes this machine has room for, and how many megabytes. Raises SpecError."""
    return _number("STACKRANK_HOST_WORKERS", 10_000), _number(
        "STACKRANK_HOST_MEMORY_MB", psutil.virtual_memory().total >> 20
    )


def _number(variable: str, default: int) -> int:
    given = os.environ.get(variable, "").strip()
    if given and not (given.isascii() and given.isdigit()):
        raise SpecError(f"{variable} is {given!r}: set it to a whole number, or to nothing")
    return int(given or default)


def _enter(entry: str, needed_mb: int) -> bool:
    most, memory_mb = capacity()
    with _ledger() as entries:
        if entries and (len(entries) >= most or sum(mb for _, mb in entries.values()) + needed_mb > memory_mb):
            for dead in [each for each, (mark, _) in entries.items() if owner_is_gone(mark)]:
                del entries[dead]
        used_mb = sum(mb for _, mb in entries.values())
        if entries and (len(entries) >= most or used_mb + needed_mb > memory_mb):
            return False
        entries[entry] = [owner(), needed_mb]
        return True


@contextmanager
def _ledger() -> Iterator[dict[str, list[Any]]]:
    """The entries {id: [owner, megabytes]}, for changing, while no other process does."""
    home = stackrank_home()
    ledger = home / "host.json"
    with locked("host"):
        entries: dict[str, list[Any]] = json.loads(ledger.read_text(encoding="utf-8")) if ledger.exists() else {}
        yield entries
        # Whole or not at all, whoever is killed.
        scratch = home / "host.tmp"
        scratch.write_text(json.dumps(entries), encoding="utf-8")
        scratch.replace(ledger)
