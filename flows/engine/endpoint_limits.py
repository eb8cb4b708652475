"""Limits of endpoints that all workers share, kept as Prefect's global concurrency limits.

An episode asks once for a slot of each endpoint that limits concurrent episodes. Limits per minute are fetched in
portions of one second. In addition, each process keeps the same limits for itself (`agents.llm.limits`).
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

from stackrank.agents.episode.protocol import EndpointError, EndpointLimits
from stackrank.agents.llm.endpoints import limits
from stackrank.flows.runs.preparing.entrants import Entrant

_PATIENCE_S = 5.0
_BURST_S = 10.0


@contextmanager
def hold_slots(entrant: Entrant, stopped: Callable[[], bool]) -> Iterator[bool]:
    """Wait until an entrant's endpoints have room, and hold slots there while its episode is played.

    Gives False if `stopped` returned True first. Raises ConcurrencySlotAcquisitionError and other errors of Prefect.
    """
    with ExitStack() as held:
        for endpoint in _endpoints(entrant):
            if endpoint.requests_per_minute or endpoint.tokens_per_minute:
                limits.share(_take_amount)
            if endpoint.max_concurrency is None:
                continue
            name = _create_limit(f"{endpoint.shown_url} episodes", endpoint.max_concurrency, None)
            while not _take_slot(held, name):
                if stopped():
                    yield False
                    return
        yield True


def _endpoints(entrant: Entrant) -> list[EndpointLimits]:
    """Return the endpoints of an entrant, each once: an agent with two slots of one endpoint could wait for itself."""
    endpoints: dict[str, EndpointLimits] = {}
    for endpoint in entrant.setup.endpoints:
        endpoints.setdefault(endpoint.shown_url, endpoint)
    return [
        endpoints[url] for url in sorted(endpoints)
    ]  # always in this order, so that no two episodes wait for each other


def _take_slot(held: ExitStack, name: str) -> bool:
    try:
        held.enter_context(
            concurrency(name, timeout_seconds=_PATIENCE_S, strict=True, raise_on_lease_renewal_failure=False)
        )
    except TimeoutError:
        return False
    return True


def _take_amount(name: str, per_minute: float, amount: int) -> None:
    try:
        rate_limit(
            _create_limit(name, math.ceil(per_minute / 60 * _BURST_S), per_minute / 60), occupy=amount, strict=True
        )
    except Exception as error:
        raise EndpointError(f"Prefect's limit for {name} could not be queried ({error})") from error


@functools.cache
def _create_limit(subject: str, limit: int, per_second: float | None) -> str:
    """Create or update a limit, if needed. Returns its name."""
    name = "stackrank-" + re.sub(r"[^A-Za-z0-9.]+", "-", subject)
    with get_client(sync_client=True) as client:
        try:
            client.upsert_global_concurrency_limit_by_name(name, limit, per_second)
        except ObjectAlreadyExists:  # another process has created it meanwhile
            client.upsert_global_concurrency_limit_by_name(name, limit, per_second)
    return name
