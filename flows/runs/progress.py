"""How far a run is, read from the database while it is played."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.errors import DatabaseError
from stackrank.db.rows import Progress
from stackrank.flows.runs.sparingly import rest_s

Counts = Progress
"""As `queries.progress` gives them."""


@contextmanager
def followed(engine: Engine, run_id: int, period_s: float, show: Callable[[Counts], None]) -> Iterator[None]:
    """While the body runs, and once when it is over, call `show` in a thread of its own, every `period_s` seconds.

    Nothing is shown while the database is away: what that means for the run, the run says.
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
