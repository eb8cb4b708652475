"""Keeps a run going if Prefect gives up its flow for a reason that has nothing to do with the run.

Importing this module imports Prefect.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait

from stackrank import log
from stackrank.flows.runs.playing.session import Session

_TICK_S = 1.0
"""How long an exception that is raised in the waiting thread may take to be noticed."""


def play_despite_slot_loss(work: Callable[[Session], str], session: Session) -> str:
    """Run `work`, which plays the session, in a separate thread. Returns what it returns, and raises what it raises.

    Prefect ends a flow whose slot it cannot keep, because the server was away or no longer knows who holds it. It then
    raises CancelledError in the flow's thread. Nobody has cancelled the run, so it goes on; at worst another run of its
    schedule starts at the same time. Any other exception in this thread cancels the session.
    """
    result: Future[str] = Future()
    context = contextvars.copy_context()  # it tells Prefect which flow run this is

    def play() -> None:
        try:
            result.set_result(context.run(work, session))
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=play, name="play").start()
    try:
        while not result.done():
            _wait_a_tick(result, session)
    except BaseException:
        session.cancel()
        wait([result])
        raise
    return result.result()


def _wait_a_tick(result: Future[str], session: Session) -> None:
    try:
        wait([result], timeout=_TICK_S)
    except asyncio.CancelledError:
        log.warning("Prefect released the run's slot; the run continues", run=session.run_id)
