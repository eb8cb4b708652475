"""Says what takes long, and for how long it has been going on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from stackrank.wording import duration, print_err

SILENCE_S = 60.0
"""The longest time in which nobody hears anything of something that is going on."""


@contextmanager
def underway(activity: str, say: Callable[[str], None] = print_err, *, silence_s: float = SILENCE_S) -> Iterator[None]:
    """Say what the body does, and from time to time for how long it has been doing it."""
    started, ended = time.monotonic(), threading.Event()

    def say_elapsed() -> None:
        while not ended.wait(silence_s):
            say(f"{activity}: {duration(time.monotonic() - started)} so far")

    say(activity)
    thread = threading.Thread(target=say_elapsed, name="underway", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
