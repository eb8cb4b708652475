"""Limits how many episodes all processes on this machine play at the same time, with a ledger under a lock."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil
from pydantic import TypeAdapter, ValidationError

from stackrank import log
from stackrank.env.task import Limits
from stackrank.errors import NotReady
from stackrank.home import home, is_dead, is_of_this_boot, locked, process_mark, write_whole
from stackrank.settings import settings

Entries = dict[str, tuple[str, int]]
"""Episodes in play: id -> the process that plays it, and the megabytes that it may take."""
_ENTRIES = TypeAdapter(Entries)
SANDBOXES = 2
"""Sandboxes per episode: one to play in, and one for the verdict."""
_WAIT_S = 0.5
_PATIENCE_S = 30.0
"""How long another process may keep the ledger locked. It normally needs milliseconds."""


@contextmanager
def reserve_room(limits: Limits, stopped: Callable[[], bool]) -> Iterator[None]:
    """Reserve room for an episode while the body plays it. Waits until this machine has room, or `stopped` says so.

    All processes with the same home together play at most `STACKRANK_HOST_WORKERS` episodes, in sandboxes whose memory
    limits add up to at most `STACKRANK_HOST_MEMORY_MB`, by default this machine's memory. One episode may always be
    played. Raises NotReady if a stuck process keeps the ledger locked; the message names it.
    """
    entry = uuid.uuid4().hex
    needed_mb = SANDBOXES * limits.memory_mb
    is_warned = False
    while True:
        try:
            if _add_entry(entry, needed_mb) or stopped():
                break
        except OSError as error:  # the disk is full: no episode starts until there is space
            if stopped():
                break
            if not is_warned:
                log.warning("this machine's episode ledger cannot be written, so episodes wait", error=error)
            is_warned = True
        time.sleep(_WAIT_S)
    try:
        yield
    finally:
        try:
            with _ledger() as entries:
                entries.pop(entry, None)
        except (NotReady, OSError) as error:  # the episode was played; its entry counts until this process ends
            log.warning("this machine's episode ledger cannot be changed", error=str(error))


def machine_capacity() -> tuple[int, int]:
    """Return how many episodes and how many megabytes this machine has room for. Raises SettingsError."""
    limits = settings()
    return limits.host_workers, limits.host_memory_mb or psutil.virtual_memory().total >> 20


def _add_entry(entry: str, needed_mb: int) -> bool:
    max_episodes, memory_mb = machine_capacity()
    with _ledger() as entries:
        if entries and (len(entries) >= max_episodes or sum(mb for _, mb in entries.values()) + needed_mb > memory_mb):
            for dead in [
                entry_id for entry_id, (mark, _) in entries.items() if is_dead(mark) or not is_of_this_boot(mark)
            ]:
                del entries[dead]
        used_mb = sum(mb for _, mb in entries.values())
        if entries and (len(entries) >= max_episodes or used_mb + needed_mb > memory_mb):
            return False
        entries[entry] = (process_mark(), needed_mb)
        return True


@contextmanager
def _ledger() -> Iterator[Entries]:
    """Yield the entries to be changed, while the lock keeps other processes out."""
    ledger = home() / "host.json"
    with locked("host", patience_s=_PATIENCE_S):
        entries: Entries = {}
        try:
            entries = _ENTRIES.validate_json(ledger.read_bytes())
        except FileNotFoundError:
            pass  # this is the first episode on this machine
        except ValidationError:
            # Perhaps the machine lost its power. Episodes in play are forgotten, so a few too many may start.
            log.warning("this machine's episode ledger is damaged; starting a new one", file=ledger)
        yield entries
        # The file is replaced as a whole, so that a process that is killed here does not damage it.
        write_whole(ledger, _ENTRIES.dump_json(entries).decode())
