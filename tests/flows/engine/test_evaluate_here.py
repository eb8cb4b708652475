"""A run that somebody waits for at a terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import Any

import httpx
import pytest
from prefect.states import Completed, Failed, exception_to_failed_state

from stackrank.db.connection.errors import DatabaseError
from stackrank.flows.engine import evaluate, evaluate_here

RETRIES = "PREFECT_CLIENT_MAX_RETRIES"
URL = "http://127.0.0.1:1/api"


@pytest.mark.parametrize(
    ("on_pool", "user_retries", "expected"),
    [(False, None, "2"), (True, None, None), (False, "9", "9"), (True, "9", "9")],
)
def test_retries_are_few_if_the_server_only_shows_progress(
    monkeypatch: pytest.MonkeyPatch, on_pool: bool, user_retries: str | None, expected: str | None
) -> None:
    retries: list[str | None] = []

    def play(**options: Any) -> None:
        retries.append(os.environ.get(RETRIES))
        raise ValueError("how it ends does not matter")

    for name in ("PREFECT_LOGGING_LEVEL", "PREFECT_INTERNAL_LOGGING_LEVEL"):
        monkeypatch.setenv(name, "INFO")  # put back afterwards
    monkeypatch.delenv(RETRIES, raising=False)
    if user_retries is not None:
        monkeypatch.setenv(RETRIES, user_retries)
    monkeypatch.setattr(evaluate, "evaluate", play)
    monkeypatch.setattr(evaluate_here, "client_env", lambda url: {})
    with pytest.raises(ValueError, match="matter"):
        evaluate_here.evaluate_here(
            1, "run", url=URL, errors=True, debug=False, on_pool=on_pool, say=print, is_started=lambda: True
        )
    assert retries == [expected]
    assert os.environ.get(RETRIES) == user_retries, "what this process starts later is not in a hurry"


@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_failing_server_does_not_lose_the_result(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    """What was played is in the database. Only what the server refuses is an error of the command."""
    messages: list[str] = []

    def play(**options: Any) -> None:
        response = httpx.Response(status, request=httpx.Request("GET", "http://127.0.0.1:1/api/admin/version"))
        response.raise_for_status()

    for name in ("PREFECT_LOGGING_LEVEL", "PREFECT_INTERNAL_LOGGING_LEVEL"):
        monkeypatch.setenv(name, "INFO")  # put back afterwards
    monkeypatch.setattr(evaluate, "evaluate", play)
    monkeypatch.setattr(evaluate_here, "client_env", lambda url: {})
    refused = pytest.raises(httpx.HTTPStatusError) if status < 500 else contextlib.nullcontext()
    with refused:
        evaluate_here.evaluate_here(
            1, "run", url=URL, errors=True, debug=False, on_pool=False, say=messages.append, is_started=lambda: True
        )
    assert ["its pages do not show how run 1 ended" in message for message in messages] == [True] * (status == 500)


def test_a_database_error_that_ended_the_run_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk takes no status either: without a word, the command would end as if nothing had been."""
    messages: list[str] = []
    full = DatabaseError("The database sqlite:///x.db is on a full disk: free some space.")
    for name in ("PREFECT_LOGGING_LEVEL", "PREFECT_INTERNAL_LOGGING_LEVEL"):
        monkeypatch.setenv(name, "INFO")  # put back afterwards
    for state in (asyncio.run(exception_to_failed_state(full)), Failed(message="the budget is spent"), Completed()):
        monkeypatch.setattr(evaluate, "evaluate", lambda state=state, **options: state)
        monkeypatch.setattr(evaluate_here, "client_env", lambda url: {})
        evaluate_here.evaluate_here(
            1, "run", url=URL, errors=True, debug=False, on_pool=False, say=messages.append, is_started=lambda: True
        )
    assert messages == [f"error: {full}"]
