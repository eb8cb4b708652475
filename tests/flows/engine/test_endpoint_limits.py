"""Limits of endpoints that processes share: against a real Prefect server."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from stackrank.agents.llm.endpoints import limits
from stackrank.flows.runs.preparing.entrants import Entrant, make_entrant
from stackrank.flows.runs.specification.spec import make_spec

pytestmark = pytest.mark.usefixtures("prefect_server")


def entrant(url: str, agent: str = "llm", **config: Any) -> Entrant:
    row = {"agent": agent, "model": "m", "config": {"base_url": url, **config}}
    return make_entrant(make_spec({"entrants": [row]}, "the test").entrants[0])


def test_max_concurrency_limits_the_episodes_of_an_endpoint() -> None:
    from stackrank.flows.engine.endpoint_limits import hold_slots

    lock, two, playing, peak = threading.Lock(), threading.Event(), [0], [0]

    def play(_: int) -> bool:
        with hold_slots(entrant("http://127.0.0.1:9/v1", max_concurrency=2), lambda: False) as may:
            with lock:
                playing[0] += 1
                peak[0] = max(peak[0], playing[0])
                if playing[0] == 2:
                    two.set()
            assert two.wait(600), "a second one at the same time"
            time.sleep(0.1)
            with lock:
                playing[0] -= 1
            return may

    with ThreadPoolExecutor(5) as threads:
        assert all(threads.map(play, range(5)))
    assert peak[0] == 2


def test_a_waiting_entrant_notices_the_end_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from stackrank.flows.engine import endpoint_limits
    from stackrank.flows.engine.endpoint_limits import hold_slots

    monkeypatch.setattr(endpoint_limits, "_PATIENCE_S", 120.0)
    limited = entrant("http://127.0.0.1:9/v2", max_concurrency=1)
    # Both models of the seeker ask the same endpoint: it does not wait for itself.
    seeker = entrant("http://127.0.0.1:9/v2", "seeker", seeker_model="s", max_concurrency=1)
    with hold_slots(seeker, lambda: False) as may:
        assert may
        with monkeypatch.context() as hasty:
            hasty.setattr(endpoint_limits, "_PATIENCE_S", 0.2)
            with hold_slots(limited, lambda: True) as has_slot:
                assert not has_slot
    with hold_slots(limited, lambda: True) as has_slot:
        assert has_slot


def test_limits_per_minute_are_shared() -> None:
    from stackrank.flows.engine.endpoint_limits import hold_slots

    settings = entrant("http://127.0.0.1:9/v3", requests_per_minute=120)
    limits._limits_by_url.clear()
    try:
        with hold_slots(settings, lambda: False):
            rate = limits.Rate("http://127.0.0.1:9/v3 requests")
            foreign_rate = limits.Rate("http://127.0.0.1:9/v3 requests")  # that of another process
            rate.per_minute = foreign_rate.per_minute = 120
            start = time.monotonic()
            for _ in range(12):  # two a second; the first twenty at once
                rate.take(1)
                foreign_rate.take(1)
            assert time.monotonic() - start > 1.0
    finally:
        limits.share(None)


def test_an_entrant_without_limits_takes_no_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    from stackrank.flows.engine import endpoint_limits

    monkeypatch.setattr(endpoint_limits, "_create_limit", None)
    with endpoint_limits.hold_slots(entrant("http://127.0.0.1:9/v4"), lambda: True) as may:
        assert may
