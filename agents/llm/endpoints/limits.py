"""Rate and concurrency limits of an endpoint, for all episodes of this process together.

If several processes share an endpoint, `share` puts a common store behind the limits per minute.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from stackrank.agents.llm.settings import Settings

Shared = Callable[[str, float, int], None]
"""Takes (name of a limit, amount per minute, amount to use), and returns when that amount may be used."""

_shared: Shared | None = None
_limits_by_url: dict[str, Limits] = {}
_lock = threading.Lock()


def share(store: Shared | None) -> None:
    """Count limits per minute in a store that other processes use too; None: in this process alone."""
    global _shared
    _shared = store


def of_endpoint(settings: Settings) -> Limits:
    """Return the limits of an endpoint. If entrants set different ones, the strictest applies."""
    with _lock:
        limits = _limits_by_url.setdefault(settings.shown_url, Limits(settings.shown_url))
    limits.tighten(settings)
    return limits


def restrain(url: str, requests_per_minute: float | None) -> None:
    """Limit the requests to an endpoint further, as an operator wants it now; None: not any more."""
    with _lock:
        limits = _limits_by_url.get(url)
        if limits is None and requests_per_minute is None:
            return
        limits = _limits_by_url.setdefault(url, Limits(url))
    limits.restrain(requests_per_minute)


class Rate:
    """A limit per minute, spread evenly: never more than a second's worth at once."""

    def __init__(self, name: str) -> None:
        """`name`: the name by which other processes know the limit."""
        self._name = name
        self._lock = threading.Lock()
        self._stock = 0.0
        self._filled = 0.0
        self.per_minute: float | None = None

    def take(self, amount: int) -> None:
        """Wait until `amount` may be used."""
        if self.per_minute is None or amount <= 0:
            return
        if _shared is not None:
            self._buy(_shared, self.per_minute, amount)
            return
        time.sleep(self._reserve(self.per_minute / 60, amount))

    def charge(self, amount: int) -> None:
        """Correct what was taken by `amount`: positive if more was used, negative if less."""
        with self._lock:
            self._stock -= amount

    def _reserve(self, per_second: float, amount: int) -> float:
        """Return the seconds to wait. Later callers wait longer."""
        with self._lock:
            time_s = time.monotonic()
            self._stock = min(self._stock + (time_s - self._filled) * per_second, max(per_second, 1.0))
            self._filled = time_s
            self._stock -= amount
            return max(-self._stock / per_second, 0.0)

    def _buy(self, shared: Shared, per_minute: float, amount: int) -> None:
        # A second's worth at a time, because asking the store takes a while.
        with self._lock:
            while self._stock < amount:
                bought = max(int(per_minute / 60), 1)
                shared(self._name, per_minute, bought)
                self._stock += bought
            self._stock -= amount


class Limits:
    """The limits of one endpoint."""

    def __init__(self, url: str) -> None:
        """Start without any limit."""
        self._free = threading.Condition()
        self._now = 0
        self._most: float | None = None
        self._requests = Rate(f"{url} requests")
        self._tokens = Rate(f"{url} tokens")
        self._answered: dict[str, float] = {}
        self._own_rate: float | None = None
        self._ordered_rate: float | None = None

    def tighten(self, settings: Settings) -> None:
        """Apply the limits of these settings as well."""
        self._most = _least(self._most, settings.max_concurrency)
        self._own_rate = _least(self._own_rate, settings.requests_per_minute)
        self._requests.per_minute = _least(self._own_rate, self._ordered_rate)
        self._tokens.per_minute = _least(self._tokens.per_minute, settings.tokens_per_minute)

    def restrain(self, requests_per_minute: float | None) -> None:
        """Limit requests further, whatever the settings say; None: not any more."""
        self._ordered_rate = requests_per_minute
        self._requests.per_minute = _least(self._own_rate, self._ordered_rate)

    @contextmanager
    def slot(self, tokens: int) -> Iterator[None]:
        """Wait until the limits allow a request of about `tokens` tokens, and hold its slot until it is answered."""
        self._requests.take(1)
        self._tokens.take(tokens)
        if self._most is None:
            yield
            return
        with self._free:
            self._free.wait_for(lambda: self._now < (self._most or 1))
            self._now += 1
        try:
            yield
        finally:
            with self._free:
                self._now -= 1
                self._free.notify()

    def record_answer(self, model: str) -> None:
        """Record that this model has just answered."""
        self._answered[model] = time.monotonic()

    def has_answered_since(self, when: float, model: str | None = None) -> bool:
        """Return whether any model, or the given one, answered this process after `when` (by the monotonic clock)."""
        times = dict(self._answered)
        last = max(times.values(), default=-math.inf) if model is None else times.get(model, -math.inf)
        return last > when

    def correct_estimate(self, estimated: int, tokens: int) -> None:
        """Correct the estimate by the tokens that were actually used."""
        if self._tokens.per_minute is not None:
            self._tokens.charge(tokens - estimated)


def _least(first: float | None, second: float | None) -> float | None:
    set_limits = [limit for limit in (first, second) if limit is not None]
    return min(set_limits) if set_limits else None
