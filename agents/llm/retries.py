"""Which of an endpoint's errors pass by themselves, and how long to wait for that."""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Iterator
from typing import Any

import tenacity

FIRST_CONTACT_S = 15.0
"""A server that never answered is given this long: most likely its address is wrong."""
LONGEST_WAIT_S = 60.0


class Garbled(Exception):
    """The endpoint's answer is no answer."""


def patiently(
    patience_s: float, *, first_contact: bool, deadline: float | None = None
) -> Iterator[tenacity.AttemptManager]:
    """Attempts, as long as errors pass and `patience_s` lasts after the first; the last error is raised as it is.

    `deadline`: of `time.monotonic`, after which nothing is tried again.
    """

    failing_since: list[float] = []

    def is_over(state: tenacity.RetryCallState) -> bool:
        # What came before the first failure was a slow answer, or a wait for the endpoint's limits.
        failing_since.append(time.monotonic())
        # A server that answers at all, if only with 429 or 503, is there: it gets all the time.
        silent = first_contact and getattr(_error(state), "status_code", None) is None
        allowed = min(patience_s, FIRST_CONTACT_S) if silent else patience_s
        wait = _asked_for(state) or _longest(state)
        if deadline is not None and time.monotonic() + wait > deadline:
            return True
        return time.monotonic() - failing_since[0] + wait > allowed

    return iter(
        tenacity.Retrying(
            retry=tenacity.retry_if_exception(is_passing),
            wait=_wait,
            stop=is_over,
            reraise=True,
        )
    )


def is_passing(error: BaseException) -> bool:
    """Whether the same question may be answered a little later."""
    import openai

    if isinstance(error, openai.APIStatusError):
        if error.code == "insufficient_quota":
            return False
        return error.status_code in (408, 409, 425, 429) or error.status_code >= 500
    return isinstance(error, (openai.APIConnectionError, openai.APIResponseValidationError, Garbled))


def is_too_long(error: Any) -> bool:
    """Whether a refusal is about the length of the conversation. Servers other than OpenAI's have no code for it."""
    said = str(error).lower()
    return error.code == "context_length_exceeded" or "context length" in said or "maximum context" in said


def _error(state: tenacity.RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None


def _wait(state: tenacity.RetryCallState) -> float:
    """Seconds until the next try: what the server asks for, else twice as long each time, with jitter."""
    asked = _asked_for(state)
    return asked if asked is not None else random.uniform(0.5, 1.0) * _longest(state)


def _longest(state: tenacity.RetryCallState) -> float:
    return float(min(0.5 * 2.0 ** (state.attempt_number - 1), LONGEST_WAIT_S))


def _asked_for(state: tenacity.RetryCallState) -> float | None:
    """Retry-After: seconds or a date; or OpenAI's variant in milliseconds."""
    headers = getattr(getattr(_error(state), "response", None), "headers", None) or {}
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return max(float(milliseconds) / 1000, 0.0)
        value = headers.get("retry-after")
        if not value:
            return None
        if value.replace(".", "", 1).isdigit():
            return float(value)
        return max(email.utils.parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError):
        return None
