"""Asks the endpoints of a run's models whether they answer."""

from __future__ import annotations

import json
from collections.abc import Iterable

from stackrank.agents.episode.protocol import EndpointDown
from stackrank.flows.runs.preparing.entrants import Entrant


def find_silent_endpoints(entrants: Iterable[Entrant]) -> dict[str, EndpointDown]:
    """Return the entrants whose endpoint does not answer: digest -> error.

    Entrants that differ only in their tools are checked once, and an endpoint that does not answer is asked once.
    Raises SetupError (a key is rejected, a model unknown) or EndpointError, with a one-sentence message.
    """
    silent: dict[str, EndpointDown] = {}
    checked: set[str] = set()
    for entrant in entrants:
        spec = entrant.spec
        settings = json.dumps([spec.agent, spec.model, spec.config], sort_keys=True, default=str)
        urls = {endpoint.shown_url for endpoint in entrant.setup.endpoints}
        error = next((error for error in silent.values() if error.endpoint in urls), None)
        try:
            if error is None and settings not in checked:
                entrant.setup.check()
                checked.add(settings)
        except EndpointDown as down:
            error = down
        if error is not None:
            silent[entrant.digest] = error
    return silent
