"""How many episodes may be played on this machine at the same time, by whatever processes: a ledger under a lock."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil
from pydantic import TypeAdapter, ValidationError

from env.sandbox.base import owner, owner_is_gone
from env.sandbox.python_env import locked, stackrank_home
from env.task import Limits
from flows import log
from flows.spec import SpecError

Entries = dict[str, tuple[str, int]]
"""Episodes that are played: id -> whose they are, and the megabytes they may take."""
_ENTRIES = TypeAdapter(Entries)
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
        entries[entry] = (owner(), needed_mb)
        return True


@contextmanager
def _ledger() -> Iterator[Entries]:
    """The entries, for changing, while no other process does."""
    home = stackrank_home()
    ledger = home / "host.json"
    with locked("host"):
        entries: Entries = {}
        try:
            entries = _ENTRIES.validate_json(ledger.read_bytes())
        except FileNotFoundError:
            pass  # the first on this machine
        except ValidationError:
            # The machine lost its power, perhaps. Who plays already is forgotten, and nobody is kept from playing.
            log.warning("the ledger of this machine's episodes is damaged, and begun anew", file=ledger)
        yield entries
        # Whole or not at all, whoever is killed.
        scratch = home / "host.tmp"
        scratch.write_bytes(_ENTRIES.dump_json(entries))
        scratch.replace(ledger)
