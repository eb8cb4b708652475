"""Limits of endpoints that all workers keep together, by Prefect's global concurrency limits.

How many episodes use an endpoint at the same time is asked for once an episode; what may be used a minute is fetched a
second's worth at a time. Below that each process keeps the same limits for itself (`agents.llm.limits`).
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from prefect.client.orchestration import get_client
from prefect.concurrency.sync import concurrency, rate_limit
from prefect.exceptions import ObjectAlreadyExists

from agents.base import EndpointError
from agents.llm import limits
from agents.llm.settings import Settings
from flows.plan import Entrant

_PATIENCE_S = 5.0
_BURST_S = 10.0


@contextmanager
def slots(entrant: Entrant, stopped: Callable[[], bool]) -> Iterator[bool]:
    """While an episode of an entrant is played: waits until its endpoints have room.

    Gives False where `stopped` said so first. Raises ConcurrencySlotAcquisitionError and others of Prefect's.
    """
    with ExitStack() as held:
        for settings in _endpoints(entrant):
            if settings.requests_per_minute or settings.tokens_per_minute:
                limits.share(_take)
            if settings.max_concurrency is None:
                continue
            name = _make(f"{settings.shown_url} episodes", settings.max_concurrency, None)
            while not _entered(held, name):
                if stopped():
                    yield False
                    return
        yield True


def _endpoints(entrant: Entrant) -> list[Settings]:
    """The endpoints of an entrant, each once: a seeker that asks the same one twice would wait for itself."""
    if not entrant.factory.needs_model:
        return []
    agent = entrant.factory(model=entrant.spec.model, config=entrant.spec.config, task=None)
    found: dict[str, Settings] = {}
    for settings in getattr(agent, "endpoints", ()):
        found.setdefault(settings.shown_url, settings)
    return [found[url] for url in sorted(found)]  # in one order, so that no two wait for each other


def _entered(held: ExitStack, name: str) -> bool:
    try:
        held.enter_context(
            concurrency(name, timeout_seconds=_PATIENCE_S, strict=True, raise_on_lease_renewal_failure=False)
        )
    except TimeoutError:
        return False
    return True


def _take(name: str, per_minute: float, amount: int) -> None:
    try:
        rate_limit(_make(name, math.ceil(per_minute / 60 * _BURST_S), per_minute / 60), occupy=amount, strict=True)
    except Exception as error:
        raise EndpointError(f"Prefect's limit for {name} could not be asked ({error})") from error


@functools.cache
def _make(what: str, most: int, per_second: float | None) -> str:
    """The limit, made or changed if need be. Returns its name."""
    name = "stackrank-" + re.sub(r"[^A-Za-z0-9.]+", "-", what)
    with get_client(sync_client=True) as client:
        try:
            client.upsert_global_concurrency_limit_by_name(name, most, per_second)
        except ObjectAlreadyExists:  # somebody else has made it meanwhile
            client.upsert_global_concurrency_limit_by_name(name, most, per_second)
    return name
