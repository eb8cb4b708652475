"""Plays a run in this process, through Prefect, for a person who waits at a terminal."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty
from types import FrameType

from stackrank.db.connection.errors import DatabaseError
from stackrank.env.sandbox.base import Say
from stackrank.flows.runs.playing.session import cancel_here
from stackrank.flows.services.prefect_server import client_env, why_unreachable
from stackrank.home import home
from stackrank.host.programs import outside_user_folder

_RETRIES = "PREFECT_CLIENT_MAX_RETRIES"
_FEW = "2"
"""Retries of Prefect's client: 6 s in all for each call at a run's end, which only updates Prefect's pages."""
START_PATIENCE_S = 60.0
"""How long a run that has not begun waits for a Prefect server that is running, but too busy to answer."""
_PAUSE_S = 3.0


@contextmanager
def _outside_user_folder() -> Iterator[None]:
    with outside_user_folder(home()):
        yield


@_outside_user_folder()
def evaluate_here(
    run_id: int,
    label: str,
    *,
    url: str,
    errors: bool,
    debug: bool,
    on_pool: bool,
    say: Say,
    is_started: Callable[[], bool],
) -> bool:
    """Play the rest of a run. Returns whether it was interrupted; how it ended is in the database.

    `label`: label of the flow run. `url`: address of Prefect's API. `errors`: also replay episodes that ended in an
    error. `debug`: show Prefect's log. `on_pool`: workers play the episodes and get them from the server, so calls to
    the server are retried as usual. `is_started`: whether the flow has begun to play the run. The first Ctrl-C cancels
    the run, the second raises KeyboardInterrupt.
    """
    os.environ.update(client_env(url))
    # Failures are in the database and on the dashboard; Prefect would print a traceback of each.
    for name in ("PREFECT_LOGGING_LEVEL", "PREFECT_INTERNAL_LOGGING_LEVEL"):
        os.environ[name] = "INFO" if debug else "CRITICAL"
    hurried = not on_pool and _RETRIES not in os.environ
    if hurried:
        os.environ[_RETRIES] = _FEW
    # Prefect reads these variables once, when it is imported.
    from httpx import HTTPStatusError, TransportError

    from stackrank.flows.engine.evaluate import evaluate

    interrupted = False

    def on_interrupt(_signal: int, _frame: FrameType | None) -> None:
        nonlocal interrupted
        if interrupted:
            raise KeyboardInterrupt
        interrupted = True
        say("Cancelling running episodes. Press Ctrl-C again to quit immediately.")
        if not cancel_here(run_id):
            raise KeyboardInterrupt

    former_handler = signal.signal(signal.SIGINT, on_interrupt)
    until = time.monotonic() + START_PATIENCE_S
    try:
        while True:
            try:
                state = evaluate(run_id=run_id, label=label, errors=errors, return_state=True)
                if state.is_failed() and isinstance(error := state.result(raise_on_failure=False), DatabaseError):
                    say(f"error: {error}")  # perhaps the end of the run could not be stored
            except (TransportError, HTTPStatusError, RuntimeError) as raised:
                cause = why_unreachable(raised) or raised
                status = cause.response.status_code if isinstance(cause, HTTPStatusError) else None
                if isinstance(cause, RuntimeError) or (status is not None and status < 500):
                    raise
                if status is not None and time.monotonic() < until and not interrupted and not is_started():
                    time.sleep(_PAUSE_S)
                    continue
                # Episodes do not need the server. The run's status says whether any are left.
                failure = "cannot be reached" if status is None else "reported an error"
                reason = " ".join(str(cause).split())[:200]
                say(
                    f"warning: the Prefect server {failure} ({reason}), so its pages do not show how run {run_id} "
                    "ended. All finished episodes are in the database."
                )
                _forget_events()
            break
    finally:
        signal.signal(signal.SIGINT, former_handler)
        if hurried:  # later calls of this process are retried as usual
            del os.environ[_RETRIES]
    return interrupted


def _forget_events() -> None:
    """Drop the events that Prefect has not sent: at exit, it would try for seconds to deliver each of them."""
    from prefect._internal.concurrency.services import _active_services

    for service in list(_active_services):
        with suppress(Empty):
            while True:
                service._queue.get_nowait()
