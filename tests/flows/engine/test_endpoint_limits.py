"""Limits of endpoints that processes share: against a real Prefect server."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from stackrank.agents.llm.endpoints import limits
from stackrank.flows.runs.preparing.check import Entrant, make_entrant
from stackrank.flows.runs.specification.spec import make_spec

pytestmark = pytest.mark.usefixtures("prefect_server")


def entrant(url: str, agent: str = "llm", **config: Any) -> Entrant:
    row = {"agent": agent, "model": "m", "config": {"base_url": url, **config}}
    return make_entrant(make_spec({"entrants": [row]}, "the test").entrants[0])


def test_so_many_episodes_use_an_endpoint_at_the_same_time() -> None:
    from stackrank.flows.engine.endpoint_limits import slots

    lock, two, now, most = threading.Lock(), threading.Event(), [0], [0]

    def play(_: int) -> bool:
        with slots(entrant("http://127.0.0.1:9/v1", max_concurrency=2), lambda: False) as may:
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
                if now[0] == 2:
                    two.set()
            assert two.wait(600), "a second one at the same time"
            time.sleep(0.1)
            with lock:
                now[0] -= 1
            return may

    with ThreadPoolExecutor(5) as threads:
        assert all(threads.map(play, range(5)))
    assert most[0] == 2


def test_whoever_waits_hears_that_the_run_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    from stackrank.flows.engine import endpoint_limits
    from stackrank.flows.engine.endpoint_limits import slots

    monkeypatch.setattr(endpoint_limits, "_PATIENCE_S", 120.0)
    one = entrant("http://127.0.0.1:9/v2", max_concurrency=1)
    # Both models of the seeker ask the same endpoint: it does not wait for itself.
    seeker = entrant("http://127.0.0.1:9/v2", "seeker", seeker_model="s", max_concurrency=1)
    with slots(seeker, lambda: False) as may:
        assert may
        with monkeypatch.context() as hasty:
            hasty.setattr(endpoint_limits, "_PATIENCE_S", 0.2)
            with slots(one, lambda: True) as other:
                assert not other
    with slots(one, lambda: True) as other:
        assert other


def test_what_may_be_asked_a_minute_is_shared() -> None:
    from stackrank.flows.engine.endpoint_limits import slots

    settings = entrant("http://127.0.0.1:9/v3", requests_per_minute=120)
    limits._limits_by_url.clear()
    try:
        with slots(settings, lambda: False):
            rate = limits.Rate("http://127.0.0.1:9/v3 requests")
            other = limits.Rate("http://127.0.0.1:9/v3 requests")  # that of another process
            rate.per_minute = other.per_minute = 120
            begun = time.monotonic()
            for _ in range(12):  # two a second; the first twenty at once
                rate.take(1)
                other.take(1)
            assert time.monotonic() - begun > 1.0
    finally:
        limits.share(None)


def test_an_entrant_without_limits_asks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from stackrank.flows.engine import endpoint_limits

    monkeypatch.setattr(endpoint_limits, "_make", None)
    with endpoint_limits.slots(entrant("http://127.0.0.1:9/v4"), lambda: True) as may:
        assert may
