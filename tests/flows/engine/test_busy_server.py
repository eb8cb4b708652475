"""A Prefect server that is there, but too busy to answer, when somebody's run begins."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from httpx import HTTPStatusError, Request, Response

from stackrank.flows.engine import evaluate as engine
from stackrank.flows.engine import evaluate_here as here

REQUEST = Request("POST", "http://127.0.0.1:1/api/flow_runs/")
ENDED = SimpleNamespace(is_failed=lambda: False)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[bool, int, list[str]]]:
    """Play with a server that refuses some calls. Returns whether it was interrupted, the calls, and what was said."""
    monkeypatch.setattr(here, "_PAUSE_S", 0.0)
    monkeypatch.setattr(here, "client_env", lambda url: {})
    for name in ("PREFECT_LOGGING_LEVEL", "PREFECT_INTERNAL_LOGGING_LEVEL", "PREFECT_CLIENT_MAX_RETRIES"):
        monkeypatch.setenv(name, "0")  # puts back what is changed

    def play(refused: int, is_started: bool, status: int = 503) -> tuple[bool, int, list[str]]:
        calls: list[int] = []
        messages: list[str] = []

        def evaluate(**_: object) -> object:
            calls.append(1)
            if len(calls) <= refused:
                raise HTTPStatusError("busy", request=REQUEST, response=Response(status, request=REQUEST))
            return ENDED

        monkeypatch.setattr(engine, "evaluate", evaluate)
        interrupted = here.evaluate_here(
            1, "r", url="", errors=True, debug=False, on_pool=False, say=messages.append, is_started=lambda: is_started
        )
        return interrupted, len(calls), messages

    return play


def test_an_unstarted_run_waits_for_the_server(played: Callable[..., tuple[bool, int, list[str]]]) -> None:
    assert played(refused=3, is_started=False) == (False, 4, [])


def test_a_started_run_is_not_retried(played: Callable[..., tuple[bool, int, list[str]]]) -> None:
    interrupted, calls, (warning,) = played(refused=3, is_started=True)
    assert (interrupted, calls) == (False, 1) and "the Prefect server reported an error" in warning


def test_patience_ends(played: Callable[..., tuple[bool, int, list[str]]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(here, "START_PATIENCE_S", 0.0)
    _, calls, (warning,) = played(refused=3, is_started=False)
    assert calls == 1 and "the Prefect server reported an error" in warning


def test_a_rejected_login_is_an_error(played: Callable[..., tuple[bool, int, list[str]]]) -> None:
    with pytest.raises(HTTPStatusError):
        played(refused=1, is_started=False, status=401)
