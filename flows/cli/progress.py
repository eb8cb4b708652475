"""Progress on standard error: a bar on a terminal, otherwise a line from time to time."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from stackrank.host.underway import SILENCE_S
from stackrank.wording import duration, print_err

_LINE_EVERY_S = 15.0


class Show(Protocol):
    """Shows that `completed` of `total` items are completed. `details`: further details for people."""

    def __call__(self, completed: int, total: int, details: str = "") -> None:
        """Show the progress."""
        ...


@contextmanager
def progress(items: str, total: int | None = None) -> Iterator[Show]:
    """Show progress while the body runs. `items`: their name, in the plural. `total`: their number, if known."""
    yield from _bar(items, total) if sys.stderr.isatty() else _lines(items)


def _bar(items: str, total: int | None) -> Iterator[Show]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    counted = (TextColumn(items), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    columns = (*counted, TextColumn("left"), TimeRemainingColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True, emoji=False)) as bar:
        line = bar.add_task("", total=total)

        def show(completed: int, total: int, details: str = "") -> None:
            bar.update(line, completed=completed, total=total, description=details)

        yield show


def _lines(items: str) -> Iterator[Show]:
    started = printed = time.monotonic()
    first: int | None = None
    shown: tuple[int, int, str] | None = None

    def show(completed: int, total: int, details: str = "") -> None:
        nonlocal printed, first, shown
        # Items that were completed earlier do not show how fast it goes now.
        first = max(completed - 1, 0) if first is None else first
        current_s = time.monotonic()
        state = completed, total, details
        if current_s - printed < (SILENCE_S if state == shown else _LINE_EVERY_S):
            return
        is_new = state != shown
        printed, shown = current_s, state
        details = f" ({details})" if details else ""
        if completed > first:
            details += f", about {(current_s - started) / (completed - first) * (total - completed):.0f} s left"
        elapsed = "" if is_new else f", {duration(current_s - started)} so far"
        print_err(f"{completed} of {total} {items}{details}{elapsed}")

    yield show
