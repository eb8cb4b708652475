"""Follows the progress of a run in the database while it is played."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.connection.errors import DatabaseError
from stackrank.db.queries.runs import RunProgress
from stackrank.flows.runs.playing.throttle import rest_s

Counts = RunProgress
"""The counts that `queries.progress` returns."""


@contextmanager
def followed(engine: Engine, run_id: int, period_s: float, show: Callable[[Counts], None]) -> Iterator[None]:
    """Call `show` in a separate thread every `period_s` seconds while the body runs, and once more when it is over.

    Nothing is shown while the database is unavailable; the run itself reports what that means for it.
    """
    over = threading.Event()

    def follow() -> None:
        last, pause_s = False, period_s
        while not last:
            last = over.wait(pause_s)
            asked = time.monotonic()
            try:
                counts = queries.progress(engine, run_id)
            except DatabaseError:
                continue
            pause_s = max(period_s, rest_s(time.monotonic() - asked))
            show(counts)

    thread = threading.Thread(target=follow, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(timeout=5)
