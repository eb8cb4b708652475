"""Which of an endpoint's errors are temporary, and how long to wait before a retry."""

from __future__ import annotations

import email.utils
import random
import re
import time
from collections.abc import Iterator

import tenacity

from stackrank.agents.llm.endpoints.transport import Failed
from stackrank.host.wall_clock import seconds_until

FIRST_CONTACT_S = 15.0
"""A server that has never answered is retried for this long: most likely its address is wrong."""
LONGEST_WAIT_S = 60.0
REFUSALS = ("content_filter", "content_policy_violation", "invalid_prompt")
"""Error codes of endpoints that refuse a conversation because of its content."""
_TOO_LONG = re.compile(
    r"(maximum |model.?s |available )?context (length|size|window)|maximum context|(prompt|input|request) (is |was )?"
    r"too (long|large)|exceeds? the maximum (number of|allowed) (input )?tokens|too many (input )?tokens",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"content[ _-]?(filter|policy|management|moderation)|usage polic|responsible ?ai|safety (system|filter|polic)"
    r"|flagged (as|by|for)|was flagged|moderation",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"reasoning_(content|details)|reasoning item|thought_?signature|thinking (mode|blocks?)|passed back"
    r"|property '\w+' is unsupported|extra (inputs|fields) (are )?not permitted|additional propert"
    r"|only support.{0,9} stream|AssistantMessage",
    re.IGNORECASE,
)
_UNKNOWN_MODEL = re.compile(
    r"(invalid|unknown) model\b|model not exist|not a valid model"
    r"|model \S+ (does not exist|(is )?not (found|supported))",
    re.IGNORECASE,
)


def attempts(patience_s: float, *, first_contact: bool) -> Iterator[tenacity.AttemptManager]:
    """Yield attempts while errors are temporary, until `patience_s` after the first error; raise the last unchanged."""
    failing_since: list[float] = []

    def is_over(state: tenacity.RetryCallState) -> bool:
        # Time before the first failure does not count: it was a slow answer, or a wait for the endpoint's limits.
        failing_since.append(time.monotonic())
        # A server that answers at all, if only with 429 or 503, is reachable: it gets the full time.
        error = _error(state)
        silent = first_contact and isinstance(error, Failed) and error.status is None
        allowed = min(patience_s, FIRST_CONTACT_S) if silent else patience_s
        wait = _requested_wait_s(state) or _longest_wait_s(state)
        return time.monotonic() - failing_since[0] + wait > allowed

    return iter(
        tenacity.Retrying(
            retry=tenacity.retry_if_exception(is_temporary),
            wait=_wait,
            stop=is_over,
            reraise=True,
        )
    )


def is_temporary(error: BaseException) -> bool:
    """Return whether it makes sense to ask the same request again a little later."""
    if not isinstance(error, Failed):
        return False
    if error.status is None:
        return True
    if error.code == "insufficient_quota" or is_too_long(error) or is_refusal(error):
        return False
    return error.status in (408, 409, 425, 429) or error.status >= 500


def is_too_long(error: Failed) -> bool:
    """Return whether a refusal is about the conversation's length. Servers other than OpenAI's have no code for it."""
    if error.status == 413 or error.code in ("context_length_exceeded", "string_above_max_length"):
        return True
    # A request with more tokens than the limit per minute gets 429, however long one waits.
    return error.status in (400, 422, 429) and _TOO_LONG.search(str(error)) is not None


def is_refusal(error: Failed) -> bool:
    """Return whether the endpoint refuses the conversation because of its content. Servers word this differently."""
    if error.code in REFUSALS:
        return True
    return error.status in (400, 403, 422, 451) and _REFUSAL.search(str(error)) is not None


def is_about_form(error: Failed) -> bool:
    """Return whether a refusal is about fields sent back with an answer, or about streaming: both are settings."""
    return error.status in (400, 422) and _FORM.search(str(error)) is not None


def is_about_key(error: Failed) -> bool:
    """Return whether a refusal is about the key. LiteLLM's proxy without a database gives 400 for an unknown key."""
    return error.status in (401, 403) or (error.status == 400 and error.code == "no_db_connection")


def is_about_model(error: Failed) -> bool:
    """Return whether a refusal is about the model's name: 404, or 400 with a message that says so."""
    if error.status == 404 or error.code == "model_not_found":
        return True
    return error.status in (400, 422) and _UNKNOWN_MODEL.search(str(error)) is not None


def _error(state: tenacity.RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None


def _wait(state: tenacity.RetryCallState) -> float:
    """Return the seconds until the next try: what the server asks for, else twice as long each time, with jitter."""
    requested_s = _requested_wait_s(state)
    return requested_s if requested_s is not None else random.uniform(0.5, 1.0) * _longest_wait_s(state)


def _longest_wait_s(state: tenacity.RetryCallState) -> float:
    return float(min(0.5 * 2.0 ** (state.attempt_number - 1), LONGEST_WAIT_S))


def _requested_wait_s(state: tenacity.RetryCallState) -> float | None:
    """Return the seconds of Retry-After (a number or a date), or of OpenAI's variant in milliseconds."""
    error = _error(state)
    headers = error.headers if isinstance(error, Failed) else {}
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return max(float(milliseconds) / 1000, 0.0)
        value = headers.get("retry-after")
        if not value:
            return None
        if value.replace(".", "", 1).isdigit():
            return float(value)
        return seconds_until(email.utils.parsedate_to_datetime(value).astimezone())
    except (TypeError, ValueError):
        return None
