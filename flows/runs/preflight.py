"""Whether the entrants' models answer, asked once before the first sandbox is started."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from stackrank.agents.episode.protocol import EndpointDown
from stackrank.flows.runs.check import Entrant

_passed: set[str] = set()


def ask_endpoints(entrants: Iterable[Entrant]) -> None:
    """Raises SetupError (a key is refused, a model unknown) or EndpointError (nobody answers), with one sentence.

    Entrants that differ in their tools only are asked about once, and so are those that passed before in this process.
    """
    for entrant in entrants:
        spec = entrant.spec
        which = json.dumps([spec.agent, spec.model, spec.config], sort_keys=True, default=str)
        if which in _passed:
            continue
        entrant.setup.check()
        _passed.add(which)


def silent_endpoints(entrants: Mapping[int, Entrant]) -> dict[int, EndpointDown]:
    """The entrants, by the ids of their rows, at whose endpoint nobody answers. Raises SetupError for the others."""
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
