"""Retries of work that a database could not do at the moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Engine
from tenacity import RetryCallState, Retrying, retry_if_exception, wait_random_exponential

from stackrank.db.connection.errors import is_transient, is_unreachable

_Result = TypeVar("_Result")
_OPTION = "patience_s"


def with_patience(engine: Engine, seconds: float) -> Engine:
    """Return an engine that waits this long for an unreachable server, so that runs survive a restart of the server."""
    return engine.execution_options(**{_OPTION: seconds})


def retry_transient(engine: Engine, work: Callable[[], _Result], *, attempts: int) -> _Result:
    """Do `work`, and after transient failures again: `attempts` times in all, for longer while the server is away."""
    patience_s = float(engine.get_execution_options().get(_OPTION, 0.0))

    def is_enough(state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        if error is not None and is_unreachable(error) and patience_s:
            return (state.seconds_since_start or 0.0) >= patience_s
        return state.attempt_number >= attempts

    retrying = Retrying(
        retry=retry_if_exception(lambda error: is_transient(error) or (patience_s > 0 and is_unreachable(error))),
        stop=is_enough,
        wait=wait_random_exponential(multiplier=0.05, max=2),
        reraise=True,
    )
    return retrying(work)
