"""How far a run is, on the terminal: a bar with the time left, or a line now and then where there is no terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine

from db import queries
from db.errors import DatabaseError
from flows.output import say

_PERIOD_S = 0.5
_LINE_EVERY_S = 15.0


@contextmanager
def shown(engine: Engine, run_id: int, total: int) -> Iterator[None]:
    """Show the run's progress on standard error while the body runs. It is read from the database."""
    over = threading.Event()
    show = _bar if sys.stderr.isatty() else _lines
    thread = threading.Thread(target=show, args=(engine, run_id, total, over), name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(timeout=5)


def _counts(row: dict[str, Any]) -> str:
    text = f"{row['resolved']} resolved, {row['unresolved']} unresolved, {row['errors']} errors"
    return text + (f", ${row['cost_usd']:.2f}" if row["cost_usd"] else "")


def _read(engine: Engine, run_id: int) -> dict[str, Any] | None:
    """How far the run is; None while the database is away: what that means for the run, the run says."""
    try:
        return queries.progress(engine, run_id)
    except DatabaseError:
        return None


def _bar(engine: Engine, run_id: int, total: int, over: threading.Event) -> None:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("episodes"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=total)
        last = False
        while not last:
            last = over.wait(_PERIOD_S)
            if row := _read(engine, run_id):
                bar.update(task, completed=row["done"], description=_counts(row))


def _lines(engine: Engine, run_id: int, total: int, over: threading.Event) -> None:
    started = said = time.monotonic()
    while not over.wait(_PERIOD_S):
        now = time.monotonic()
        if now - said < _LINE_EVERY_S:
            continue
        said = now
        if not (row := _read(engine, run_id)):
            continue
        left = f", about {(now - started) / row['done'] * (total - row['done']):.0f} s left" if row["done"] else ""
        say(f"{row['done']} of {total} episodes ({_counts(row)}){left}")
