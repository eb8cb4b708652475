"""Whether entrants can play at all, asked once before the first sandbox is started."""

from __future__ import annotations

import json
from collections.abc import Iterable

from flows.plan import Entrant

_passed: set[str] = set()


def check(entrants: Iterable[Entrant]) -> None:
    """Raises SetupError (a key is refused, a model unknown) or EndpointError (nobody answers), with one sentence.

    Entrants that differ in their tools only are asked about once, and so are those that passed before in this process.
    """
    for entrant in entrants:
        spec = entrant.spec
        if not entrant.factory.needs_model:
            continue
        which = json.dumps([spec.agent, spec.model, spec.config], sort_keys=True, default=str)
        if which in _passed:
            continue
        agent = entrant.factory(model=spec.model, config=spec.config, task=None)
        asked = getattr(agent, "check", None)
        if asked is not None:
            asked()
        _passed.add(which)
