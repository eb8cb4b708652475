"""Progress on standard error: a bar on a terminal, otherwise a line from time to time."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from stackrank.wording import print_err

_LINE_EVERY_S = 15.0


class Show(Protocol):
    """Shows that `done` of `total` items are done. `about`: further details for people."""

    def __call__(self, done: int, total: int, about: str = "") -> None:
        """Show the progress."""
        ...


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Show]:
    """Show progress while the body runs. `what`: name of the items, in the plural. `total`: their number, if known."""
    yield from _bar(what, total) if sys.stderr.isatty() else _lines(what)


def _bar(what: str, total: int | None) -> Iterator[Show]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    counted = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    columns = (*counted, TextColumn("left"), TimeRemainingColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True)) as bar:
        line = bar.add_task("", total=total)

        def show(done: int, total: int, about: str = "") -> None:
            bar.update(line, completed=done, total=total, description=about)

        yield show


def _lines(what: str) -> Iterator[Show]:
    started = said = time.monotonic()
    before: int | None = None

    def show(done: int, total: int, about: str = "") -> None:
        nonlocal said, before
        before = max(done - 1, 0) if before is None else before  # earlier work says nothing about the present speed
        now = time.monotonic()
        if now - said < _LINE_EVERY_S:
            return
        said = now
        left = f", about {(now - started) / (done - before) * (total - done):.0f} s left" if done > before else ""
        print_err(f"{done} of {total} {what}{f' ({about})' if about else ''}{left}")

    yield show
