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
from stackrank.flows.runs.playing.query_throttle import rest_s

Counts = RunProgress
"""The counts that `queries.progress` returns."""


@contextmanager
def follow_progress(engine: Engine, run_id: int, period_s: float, show: Callable[[Counts], None]) -> Iterator[None]:
    """Call `show` in a separate thread every `period_s` seconds while the body runs, and once more when it is over.

    Nothing is shown while the database is unavailable; the run itself reports what that means for it.
    """
    end_event = threading.Event()

    def follow() -> None:
        is_last, pause_s = False, period_s
        while not is_last:
            is_last = end_event.wait(pause_s)
            query_start = time.monotonic()
            try:
                counts = queries.progress(engine, run_id)
            except DatabaseError:
                continue
            pause_s = max(period_s, rest_s(time.monotonic() - query_start))
            show(counts)

    thread = threading.Thread(target=follow, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        end_event.set()
        thread.join(timeout=5)
