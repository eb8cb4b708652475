"""Checks once that the entrants' models answer, before the first sandbox starts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from stackrank.agents.episode.protocol import EndpointDown
from stackrank.flows.runs.preparing.check import Entrant

_passed: set[str] = set()


def ask_endpoints(entrants: Iterable[Entrant]) -> None:
    """Raises SetupError (a key is refused, a model unknown) or EndpointError (no answer), with a one-sentence message.

    Entrants that differ only in their tools are checked once, and entrants that passed before in this process are not
    checked again.
    """
    for entrant in entrants:
        spec = entrant.spec
        which = json.dumps([spec.agent, spec.model, spec.config], sort_keys=True, default=str)
        if which in _passed:
            continue
        entrant.setup.check()
        _passed.add(which)


def silent_endpoints(entrants: Mapping[int, Entrant]) -> dict[int, EndpointDown]:
    """Return the entrants whose endpoint does not answer, by the ids of their rows. Raises SetupError for others."""
    silent: dict[int, EndpointDown] = {}
    for key, entrant in entrants.items():
        asked = {each.shown_url for each in entrant.setup.endpoints}
        known = next((error for error in silent.values() if error.endpoint in asked), None)
        try:
            if known is None:
                ask_endpoints([entrant])
            else:
                silent[key] = known
        except EndpointDown as error:
            silent[key] = error
    return silent
